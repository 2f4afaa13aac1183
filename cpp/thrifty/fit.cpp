#include "thrifty/fit.hpp"

#include <unordered_map>

#include "thrifty/outlier_clip.hpp"

namespace keyhole::thrifty {

namespace {

// Rows that lack the same columns share one regression. Sets of missing columns beyond this number are left out of a
// fit.
constexpr std::size_t most_patterns = 256;
// Ratio: the pseudo-rows are taken to shrink weights no more than to this part.
constexpr double least_ridge_shrinkage = 0.01;

// Add weight v v' to a matrix of m + 2 rows.
void add(double* gram, Index stride, const double* v, Index m, double weight) {
  for (Index i = 0; i < m + 2; ++i) {
    const double f = weight * v[i];
    double* row = gram + i * stride;
    for (Index j = 0; j < m + 2; ++j) row[j] += f * v[j];
  }
}

// Sums of products of (x, 1, y) over the rows that show the same columns, zeros in place of the others.
struct Pattern {
  std::vector<std::uint64_t> seen;
  std::vector<Index> missing;
  std::vector<double> sums;
};

class Patterns {
 public:
  Patterns(Index m) : m_(m), words_((m + 63) / 64) {}

  Pattern* find(const std::vector<std::uint64_t>& seen) {
    if (last_ != nullptr && last_->seen == seen) return last_;
    std::uint64_t h = 1469598103934665603ull;
    for (const std::uint64_t word : seen) h = (h ^ word) * 1099511628211ull;
    for (auto it = at_.find(h); it != at_.end(); it = at_.find(++h)) {
      if (all_[it->second].seen == seen) return last_ = &all_[it->second];
    }
    if (all_.size() == most_patterns) return nullptr;
    if (all_.capacity() == 0) all_.reserve(most_patterns);
    Pattern fresh{seen, {}, std::vector<double>(static_cast<std::size_t>((m_ + 2) * (m_ + 2)), 0.0)};
    for (Index a = 0; a < m_; ++a) {
      if (!(seen[a / 64] >> (a % 64) & 1)) fresh.missing.push_back(a);
    }
    at_.emplace(h, all_.size());
    all_.push_back(std::move(fresh));
    return last_ = &all_.back();
  }
  std::vector<Pattern>& all() { return all_; }
  std::size_t words() const { return static_cast<std::size_t>(words_); }

 private:
  Index m_, words_;
  std::vector<Pattern> all_;
  std::unordered_map<std::uint64_t, std::size_t> at_;
  Pattern* last_ = nullptr;
};

// Sum the products of all stored rows that show at least half of the columns, by pattern.
void gather(const State& state, const Fit& fit, Index m, Patterns& patterns) {
  std::vector<double> v(static_cast<std::size_t>(m + 2), 0.0);
  std::vector<std::uint64_t> seen(patterns.words(), 0);
  for (Index a = 0; a < m; ++a) state.attr[fit.column[a].j].scratch_index = a;
  for (Index i = 0; i < state.scalars().n_rows; ++i) {
    const Row& row = state.row[state.stored_row(i)];
    if (row.weight <= 0.0) continue;
    Index shown = 0;
    for (Index a = 0; a < m; ++a) v[a] = 0.0;
    for (std::uint64_t& word : seen) word = 0;
    for (Index p = row.begin; p < row.begin + row.size; ++p) {
      const Value& value = state.value[p];
      const Index a = state.attr[value.j].scratch_index;
      if (a < 0) continue;
      v[a] = value.x;
      seen[a / 64] |= std::uint64_t{1} << (a % 64);
      ++shown;
    }
    if (shown == 0 || 2 * shown < m) continue;
    Pattern* pattern = patterns.find(seen);
    if (pattern == nullptr) continue;
    v[m] = 1.0;
    v[m + 1] = row.y;
    add(pattern->sums.data(), m + 2, v.data(), m, row.weight);
  }
  for (Index a = 0; a < m; ++a) state.attr[fit.column[a].j].scratch_index = -1;
}

// The covariance C_B of the missing columns of a pattern given the others.
std::vector<double> missing_covariance(const State& state, const Fit& fit, const std::vector<Index>& missing) {
  const Index n = static_cast<Index>(missing.size());
  std::vector<double> P(static_cast<std::size_t>(n * n)), C(P.size());
  for (Index i = 0; i < n; ++i) {
    for (Index e = 0; e < n; ++e) P[i * n + e] = fit.p(missing[i], missing[e]);
  }
  invert(P.data(), n, n, C.data(), n, state.scratch.workspace);
  return C;
}

// The regression of the missing columns on (x, 1) by the fit so far: one row of m + 2 coefficients for each missing
// column.
std::vector<double> imputation(const Fit& fit, Index m, const std::vector<Index>& missing,
                               std::span<const Index> position, std::span<const double> C) {
  const Index n = static_cast<Index>(missing.size()), stride = m + 2;
  std::vector<double> beta(static_cast<std::size_t>(n * stride), 0.0);
  for (Index i = 0; i < n; ++i) {
    double* b = beta.data() + i * stride;
    b[m] = fit.column[missing[i]].x_bar;
    for (Index e = 0; e < m; ++e) {
      if (position[e] >= 0) continue;
      for (Index l = 0; l < n; ++l) b[e] -= C[i * n + l] * fit.p(missing[l], e);
      b[m] -= b[e] * fit.column[e].x_bar;
    }
  }
  return beta;
}

// Add the rows of a pattern to the fit with x_B = beta'(x, 1). This is linear, so the sums of the pattern are enough.
void add_imputed_rows(const State& state, const Fit& fit, Index m, std::span<const double> guess,
                      const Pattern& pattern) {
  const std::vector<Index>& missing = pattern.missing;
  const Index n = static_cast<Index>(missing.size()), stride = m + 2;
  const double s2 = state.scalars().s2, *sums = pattern.sums.data();
  const std::vector<double> C = missing_covariance(state, fit, missing);
  double hidden = 0.0;  // w_B' C_B w_B
  for (Index i = 0; i < n; ++i) {
    for (Index e = 0; e < n; ++e) hidden += guess[missing[i]] * C[i * n + e] * guess[missing[e]];
  }
  const double noise_weight = hidden_noise_weight(s2, std::max(hidden, 0.0));
  std::vector<Index> position(static_cast<std::size_t>(stride), -1);  // of a column among the missing ones
  for (Index i = 0; i < n; ++i) position[missing[i]] = i;
  const std::vector<double> beta = imputation(fit, m, missing, position, C);
  std::vector<double> cross(beta.size(), 0.0);  // sums of products of the imputed columns with (x, 1, y)
  for (Index i = 0; i < n; ++i) {
    for (Index l = 0; l < stride; ++l) {
      for (Index e = 0; e < m + 1; ++e) cross[i * stride + l] += sums[l * stride + e] * beta[i * stride + e];
    }
  }
  for (Index i = 0; i < stride; ++i) {
    for (Index e = 0; e < stride; ++e) {
      const Index at_i = position[i], at_e = position[e];
      double value = sums[i * stride + e];
      if (at_i >= 0 && at_e >= 0) {
        value = 0.0;
        for (Index l = 0; l < m + 1; ++l) value += beta[at_i * stride + l] * cross[at_e * stride + l];
      } else if (at_i >= 0) {
        value = cross[at_i * stride + e];
      } else if (at_e >= 0) {
        value = cross[at_e * stride + i];
      }
      fit.g(i, e) += noise_weight * value;
    }
  }
  const double weight = noise_weight * sums[m * stride + m];
  for (Index i = 0; i < n; ++i) {
    for (Index e = 0; e < n; ++e) fit.hid(missing[i], missing[e]) += weight * C[i * n + e];
  }
}

}  // namespace

std::vector<Member> members(const State& state) {
  std::vector<Member> out;
  out.reserve(static_cast<std::size_t>(state.scalars().n_members + 4));
  for (Index a = 0; a < state.scalars().m; a += out.back().size) {
    const Index s = state.attr[state.fit.column[a].j].source;
    out.push_back({s, a, state.source[s].size});
  }
  return out;
}

Index condition_on_observed(const State& state, const Fit& fit, Index m) {
  State::Scratch& scratch = state.scratch;
  Index n_missing = 0;
  for (Index a = 0; a < m; ++a) {
    if (!scratch.observed[a]) scratch.missing[n_missing++] = a;
  }
  for (Index i = 0; i < n_missing; ++i) {
    for (Index e = 0; e < n_missing; ++e) {
      scratch.missing_precision[i * n_missing + e] = fit.p(scratch.missing[i], scratch.missing[e]);
    }
  }
  double *precision = scratch.missing_precision.data(), *covariance = scratch.missing_covariance.data();
  invert(precision, n_missing, n_missing, covariance, n_missing, scratch.workspace);
  return n_missing;
}

void impute_missing(const State& state, const Fit& fit, Index m, Index n_missing) {
  State::Scratch& scratch = state.scratch;
  for (Index i = 0; i < n_missing; ++i) {
    scratch.missing_rhs[i] = 0.0;
    for (Index a = 0; a < m; ++a) {
      if (scratch.observed[a]) scratch.missing_rhs[i] -= fit.p(scratch.missing[i], a) * scratch.deviation[a];
    }
  }
  for (Index i = 0; i < n_missing; ++i) {
    double x = 0.0;
    for (Index e = 0; e < n_missing; ++e) x += scratch.missing_covariance[i * n_missing + e] * scratch.missing_rhs[e];
    scratch.deviation[scratch.missing[i]] = x;
  }
}

double imputation_noise(const State& state, Index n_missing) {
  State::Scratch& scratch = state.scratch;
  double sum = 0.0;
  for (Index i = 0; i < n_missing; ++i) {
    scratch.product[i] = 0.0;
    for (Index e = 0; e < n_missing; ++e) {
      scratch.product[i] += scratch.missing_covariance[i * n_missing + e] * state.fit.column[scratch.missing[e]].w;
    }
    sum += state.fit.column[scratch.missing[i]].w * scratch.product[i];
  }
  return std::min(std::max(sum, 0.0), state.scalars().y_var);
}

void solve(const State& state, const Fit& fit, Index m) {
  const Scalars& scalars = state.scalars();
  const double g = state.constants().prior_rows * scalars.row_weight, total = fit.g(m, m) + g;
  const double y_bar = (fit.g(m, m + 1) + g * scalars.y_mean) / total;
  std::vector<double> A(static_cast<std::size_t>(m * m)), c(static_cast<std::size_t>(m)), prior(c.size());
  for (Index a = 0; a < m; ++a) {
    Column& column = fit.column[a];
    const Moments all = moments(state.attr[column.j]);
    prior[a] = all.mean;
    column.sd = std::sqrt(all.variance);
    column.x_bar = (fit.g(m, a) + g * prior[a]) / total;
  }
  for (Index a = 0; a < m; ++a) {
    for (Index e = 0; e < m; ++e) {
      A[a * m + e] = fit.g(a, e) + g * prior[a] * prior[e] - total * fit.column[a].x_bar * fit.column[e].x_bar;
    }
    A[a * m + a] += g * fit.column[a].sd * fit.column[a].sd;
    c[a] = fit.g(a, m + 1) + g * prior[a] * scalars.y_mean - total * fit.column[a].x_bar * y_bar;
  }
  invert(A.data(), m, m, fit.V, fit.width, state.scratch.workspace);
  for (Index a = 0; a < m; ++a) {
    double w = 0.0;
    for (Index e = 0; e < m; ++e) {
      w += fit.v(a, e) * c[e];
      fit.v(a, e) *= scalars.row_weight;
    }
    fit.column[a].w = w;
  }
  double explained = 0.0;
  for (Index a = 0; a < m; ++a) {
    for (Index e = 0; e < m; ++e) {
      fit.cov(a, e) = (A[a * m + e] + fit.hid(a, e)) / total;  // an imputed value lacks its own variance
      explained += fit.column[a].w * fit.column[e].w * fit.cov(a, e);
    }
  }
  invert(fit.C, fit.width, m, fit.P, fit.width, state.scratch.workspace);
  fit.label->y_bar = y_bar;
  fit.label->explained = explained;
}

void fit_trial(const State& state, Index m, std::span<const double> guess) {
  const Fit& fit = state.trial_fit;
  Patterns patterns(m);
  gather(state, fit, m, patterns);
  for (Index i = 0; i < m + 2; ++i) {
    for (Index e = 0; e < m + 2; ++e) {
      fit.g(i, e) = 0.0;
      if (i < m && e < m) fit.hid(i, e) = 0.0;
    }
  }
  bool incomplete = false;
  for (const Pattern& pattern : patterns.all()) {
    if (pattern.missing.empty()) {
      for (Index i = 0; i < m + 2; ++i) {
        for (Index e = 0; e < m + 2; ++e) fit.g(i, e) = pattern.sums[i * (m + 2) + e];
      }
    } else {
      incomplete = true;
    }
  }
  for (Index a = 0; a < m; ++a) fit.column[a].recent_shift = 0.0;
  solve(state, fit, m);
  if (!incomplete) return;
  for (const Pattern& pattern : patterns.all()) {
    if (!pattern.missing.empty()) add_imputed_rows(state, fit, m, guess, pattern);
  }
  solve(state, fit, m);
}

void add_row_to_fit(const State& state, Index t) {
  State::Scratch& scratch = state.scratch;
  const Scalars& scalars = state.scalars();
  const Fit& fit = state.fit;
  const Index m = scalars.m;
  const Row& row = state.row[t];
  Index shown = 0;
  for (Index p = row.begin; p < row.begin + row.size; ++p) {
    const Index a = state.attr[state.value[p].j].column;
    if (a < 0) continue;
    ++shown;
    scratch.deviation[a] = state.value[p].x - fit.column[a].x_bar;
    scratch.observed[a] = 1;
  }
  if (shown == 0 || 2 * shown < m) return;
  double weight = scalars.row_weight;
  if (shown < m) {
    const Index n_missing = condition_on_observed(state, fit, m);
    impute_missing(state, fit, m, n_missing);
    const double hidden = imputation_noise(state, n_missing);
    weight *= hidden_noise_weight(scalars.s2, hidden);
    for (Index i = 0; i < n_missing; ++i) {
      for (Index e = 0; e < n_missing; ++e) {
        const double cov = scratch.missing_covariance[i * n_missing + e];
        fit.hid(scratch.missing[i], scratch.missing[e]) += weight * cov;
      }
    }
  }
  for (Index a = 0; a < m; ++a) scratch.product[a] = scratch.deviation[a] + fit.column[a].x_bar;
  scratch.product[m] = 1.0;
  scratch.product[m + 1] = row.y;
  add(fit.gram, fit.width + 2, scratch.product.data(), m, weight);
}

void update_residual_variance(const State& state) {
  Scalars& scalars = state.scalars();
  const double explained = scalars.m > 0 ? state.fit.label->explained : 0.0;
  const double floor = state.constants().residual_floor * scalars.prediction_mse;
  scalars.s2 = std::max(std::max(scalars.y_var - explained, floor), 1e-9 * scalars.y_var);
  for (Index a = 0; a < scalars.m; ++a) {
    const double p = state.fit.p(a, a);
    state.fit.column[a].partial_variance = p > 0.0 ? 1.0 / p : 0.0;
  }
}

namespace {

// w_B' (matrix_BB)^-1 w_B for the columns B of a member.
double block_quadratic(const State& state, const Fit& fit, const Member& member, const double* matrix) {
  const Index q = member.size;
  if (q == 1) {
    const double w = fit.column[member.first].w, p = matrix[member.first * fit.width + member.first];
    return p > 1e-300 ? w * w / p : 0.0;
  }
  std::vector<double> A(static_cast<std::size_t>(q * q)), w(static_cast<std::size_t>(q)), inverse;
  for (Index i = 0; i < q; ++i) {
    w[i] = fit.column[member.first + i].w;
    for (Index e = 0; e < q; ++e) A[i * q + e] = matrix[(member.first + i) * fit.width + member.first + e];
  }
  return quadratic(A.data(), w.data(), q, inverse, state.scratch.workspace);
}

}  // namespace

double member_loss(const State& state, const Fit& fit, const Member& member) {
  return block_quadratic(state, fit, member, fit.P);
}

double ridge_shrinkage(const State& state, const Fit& fit, const Member& member) {
  double pseudo = 0.0;  // sum over its columns of the share that pseudo-rows have in what is known of them
  for (Index a = member.first; a < member.first + member.size; ++a) {
    pseudo += fit.column[a].sd * fit.column[a].sd * fit.v(a, a);
  }
  const double kept = 1.0 - state.constants().prior_rows * pseudo / static_cast<double>(member.size);
  return std::max(least_ridge_shrinkage, kept);
}

double member_evidence(const State& state, const Fit& fit, const Member& member) {
  return block_quadratic(state, fit, member, fit.V) / state.scalars().s2;
}

}  // namespace keyhole::thrifty
