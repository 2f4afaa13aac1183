#include "thrifty/fit.hpp"

#include <unordered_map>

#include "thrifty/outlier_clip.hpp"

namespace keyhole::thrifty {

namespace {

// Rows that lack the same columns share one regression; more different sets than this are left out of a fit.
constexpr std::size_t most_patterns = 256;

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
  std::vector<Index> lost;
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
      if (!(seen[a / 64] >> (a % 64) & 1)) fresh.lost.push_back(a);
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

void gather(const State& state, const Fit& fit, Index m, Patterns& patterns) {
  std::vector<double> v(static_cast<std::size_t>(m + 2), 0.0);
  std::vector<std::uint64_t> seen(patterns.words(), 0);
  for (Index a = 0; a < m; ++a) state.attr[fit.column[a].j].mark = a;
  const Now& now = state.now();
  const Index size = static_cast<Index>(state.row.size());
  for (Index i = 0; i < now.n_rows; ++i) {
    Index t = now.oldest + i;
    if (t >= size) t -= size;
    const Row& row = state.row[t];
    if (row.weight <= 0.0) continue;
    Index shown = 0;
    for (Index a = 0; a < m; ++a) v[a] = 0.0;
    for (std::uint64_t& word : seen) word = 0;
    for (Index p = row.begin; p < row.begin + row.size; ++p) {
      const Value& value = state.value[p];
      const Index a = state.attr[value.j].mark;
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
  for (Index a = 0; a < m; ++a) state.attr[fit.column[a].j].mark = -1;
}

// Add the rows of a pattern, x_B = beta'(x, 1) according to the fit so far: linear, so that their sums are enough.
void fill_in(const State& state, const Fit& fit, Index m, std::span<const double> guess, const Pattern& of) {
  const Index u = static_cast<Index>(of.lost.size()), stride = m + 2;
  const double s2 = state.now().s2, *sums = of.sums.data();
  std::vector<double> block(static_cast<std::size_t>(u * u)), C(block.size());
  std::vector<double> beta(static_cast<std::size_t>(u * stride), 0.0), cross(beta.size());
  for (Index i = 0; i < u; ++i) {
    for (Index e = 0; e < u; ++e) block[i * u + e] = fit.p(of.lost[i], of.lost[e]);
  }
  invert(block.data(), u, u, C.data(), u, state.scratch.joined);
  double spread = 0.0;
  for (Index i = 0; i < u; ++i) {
    for (Index e = 0; e < u; ++e) spread += guess[of.lost[i]] * C[i * u + e] * guess[of.lost[e]];
  }
  const double keep = s2 > 0.0 ? s2 / (s2 + std::max(spread, 0.0)) : 1.0;
  std::vector<Index> lost_at(static_cast<std::size_t>(m + 2), -1);
  for (Index i = 0; i < u; ++i) lost_at[of.lost[i]] = i;
  for (Index i = 0; i < u; ++i) {
    double* b = beta.data() + i * stride;
    b[m] = fit.column[of.lost[i]].x_bar;
    for (Index e = 0; e < m; ++e) {
      if (lost_at[e] >= 0) continue;
      for (Index l = 0; l < u; ++l) b[e] -= C[i * u + l] * fit.p(of.lost[l], e);
      b[m] -= b[e] * fit.column[e].x_bar;
    }
    for (Index l = 0; l < stride; ++l) {
      double c = 0.0;
      for (Index e = 0; e < m + 1; ++e) c += sums[l * stride + e] * b[e];
      cross[i * stride + l] = c;
    }
  }
  for (Index i = 0; i < stride; ++i) {
    for (Index e = 0; e < stride; ++e) {
      const Index li = lost_at[i], le = lost_at[e];
      double value = sums[i * stride + e];
      if (li >= 0 && le >= 0) {
        value = 0.0;
        for (Index l = 0; l < m + 1; ++l) value += beta[li * stride + l] * cross[le * stride + l];
      } else if (li >= 0) {
        value = cross[li * stride + e];
      } else if (le >= 0) {
        value = cross[le * stride + i];
      }
      fit.g(i, e) += keep * value;
    }
  }
  const double weight = keep * sums[m * stride + m];
  for (Index i = 0; i < u; ++i) {
    for (Index e = 0; e < u; ++e) fit.hid(of.lost[i], of.lost[e]) += weight * C[i * u + e];
  }
}

}  // namespace

std::vector<Member> members(const State& state) {
  std::vector<Member> out;
  out.reserve(static_cast<std::size_t>(state.now().n_members + 4));
  for (Index a = 0; a < state.now().m; a += out.back().size) {
    const Index s = state.attr[state.fit.column[a].j].source;
    out.push_back({s, a, state.source[s].size});
  }
  return out;
}

Index condition(const State& state, const Fit& fit, Index m) {
  auto& [v, row, pull, block, inverse, joined, q, u_, losses, r, V, best, usual, seen, lost, taken, stay, basket] =
      state.scratch;
  Index u = 0;
  for (Index a = 0; a < m; ++a) {
    if (!seen[a]) lost[u++] = a;
  }
  for (Index i = 0; i < u; ++i) {
    for (Index e = 0; e < u; ++e) block[i * u + e] = fit.p(lost[i], lost[e]);
  }
  invert(block.data(), u, u, inverse.data(), u, joined);
  return u;
}

void expect(const State& state, const Fit& fit, Index m, Index u) {
  State::Scratch& s = state.scratch;
  for (Index i = 0; i < u; ++i) {
    s.pull[i] = 0.0;
    for (Index a = 0; a < m; ++a) {
      if (s.seen[a]) s.pull[i] -= fit.p(s.lost[i], a) * s.v[a];
    }
  }
  for (Index i = 0; i < u; ++i) {
    double x = 0.0;
    for (Index e = 0; e < u; ++e) x += s.inverse[i * u + e] * s.pull[e];
    s.v[s.lost[i]] = x;
  }
}

double hidden_noise(const State& state, Index u) {
  State::Scratch& s = state.scratch;
  double sum = 0.0;
  for (Index i = 0; i < u; ++i) {
    s.row[i] = 0.0;
    for (Index e = 0; e < u; ++e) s.row[i] += s.inverse[i * u + e] * state.fit.column[s.lost[e]].w;
    sum += state.fit.column[s.lost[i]].w * s.row[i];
  }
  return std::min(std::max(sum, 0.0), state.now().y_var);
}

void solve(const State& state, const Fit& fit, Index m) {
  const Now& now = state.now();
  const double g = state.K().prior_rows * now.row_weight, total = fit.g(m, m) + g;
  const double y_bar = (fit.g(m, m + 1) + g * now.y_mean) / total;
  std::vector<double> A(static_cast<std::size_t>(m * m)), c(static_cast<std::size_t>(m)), prior(c.size());
  for (Index a = 0; a < m; ++a) {
    Column& column = fit.column[a];
    const Moments of = moments(state.attr[column.j]);
    prior[a] = of.mean;
    column.sd = std::sqrt(of.variance);
    column.x_bar = (fit.g(m, a) + g * prior[a]) / total;
  }
  for (Index a = 0; a < m; ++a) {
    for (Index e = 0; e < m; ++e) {
      A[a * m + e] = fit.g(a, e) + g * prior[a] * prior[e] - total * fit.column[a].x_bar * fit.column[e].x_bar;
    }
    A[a * m + a] += g * fit.column[a].sd * fit.column[a].sd;
    c[a] = fit.g(a, m + 1) + g * prior[a] * now.y_mean - total * fit.column[a].x_bar * y_bar;
  }
  invert(A.data(), m, m, fit.V, fit.width, state.scratch.joined);
  for (Index a = 0; a < m; ++a) {
    double w = 0.0;
    for (Index e = 0; e < m; ++e) {
      w += fit.v(a, e) * c[e];
      fit.v(a, e) *= now.row_weight;
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
  invert(fit.C, fit.width, m, fit.P, fit.width, state.scratch.joined);
  fit.label->y_bar = y_bar;
  fit.label->explained = explained;
}

void build(const State& state, Index m, std::span<const double> guess) {
  const Fit& fit = state.trial;
  Patterns patterns(m);
  gather(state, fit, m, patterns);
  for (Index i = 0; i < m + 2; ++i) {
    for (Index e = 0; e < m + 2; ++e) {
      fit.g(i, e) = 0.0;
      if (i < m && e < m) fit.hid(i, e) = 0.0;
    }
  }
  bool incomplete = false;
  for (const Pattern& of : patterns.all()) {
    if (of.lost.empty()) {
      for (Index i = 0; i < m + 2; ++i) {
        for (Index e = 0; e < m + 2; ++e) fit.g(i, e) = of.sums[i * (m + 2) + e];
      }
    } else {
      incomplete = true;
    }
  }
  for (Index a = 0; a < m; ++a) fit.column[a].bend = 0.0;
  solve(state, fit, m);
  if (!incomplete) return;
  for (const Pattern& of : patterns.all()) {
    if (!of.lost.empty()) fill_in(state, fit, m, guess, of);
  }
  solve(state, fit, m);
}

void extend(const State& state, Index t) {
  State::Scratch& s = state.scratch;
  const Now& now = state.now();
  const Fit& fit = state.fit;
  const Index m = now.m;
  const Row& row = state.row[t];
  Index shown = 0;
  for (Index p = row.begin; p < row.begin + row.size; ++p) {
    const Index a = state.attr[state.value[p].j].place;
    if (a < 0) continue;
    ++shown;
    s.v[a] = state.value[p].x - fit.column[a].x_bar;
    s.seen[a] = 1;
  }
  if (shown == 0 || 2 * shown < m) return;
  double weight = now.row_weight;
  if (shown < m) {
    const Index u = condition(state, fit, m);
    expect(state, fit, m, u);
    const double spread = hidden_noise(state, u);
    weight *= now.s2 > 0.0 ? now.s2 / (now.s2 + spread) : 1.0;
    for (Index i = 0; i < u; ++i) {
      for (Index e = 0; e < u; ++e) fit.hid(s.lost[i], s.lost[e]) += weight * s.inverse[i * u + e];
    }
  }
  for (Index a = 0; a < m; ++a) s.row[a] = s.v[a] + fit.column[a].x_bar;
  s.row[m] = 1.0;
  s.row[m + 1] = row.y;
  add(fit.gram, fit.width + 2, s.row.data(), m, weight);
}

void set_residual(const State& state) {
  Now& now = state.now();
  const double explained = now.m > 0 ? state.fit.label->explained : 0.0;
  now.s2 = std::max(std::max(now.y_var - explained, state.K().residual_floor * now.error2), 1e-9 * now.y_var);
  for (Index a = 0; a < now.m; ++a) {
    const double p = state.fit.p(a, a);
    state.fit.column[a].cond = p > 0.0 ? 1.0 / p : 0.0;
  }
}

namespace {

double block_quadratic(const State& state, const Fit& fit, const Member& of, const double* matrix) {
  const Index q = of.size;
  if (q == 1) {
    const double w = fit.column[of.first].w, p = matrix[of.first * fit.width + of.first];
    return p > 1e-300 ? w * w / p : 0.0;
  }
  std::vector<double> A(static_cast<std::size_t>(q * q)), w(static_cast<std::size_t>(q)), inverse;
  for (Index i = 0; i < q; ++i) {
    w[i] = fit.column[of.first + i].w;
    for (Index e = 0; e < q; ++e) A[i * q + e] = matrix[(of.first + i) * fit.width + of.first + e];
  }
  return quadratic(A.data(), w.data(), q, inverse, state.scratch.joined);
}

}  // namespace

double member_loss(const State& state, const Fit& fit, const Member& of) {
  return block_quadratic(state, fit, of, fit.P);
}

double kept_of_weight(const State& state, const Fit& fit, const Member& of) {
  constexpr double least = 0.01;
  double pseudo = 0.0;  // the pseudo-rows' part of what is known of its own
  for (Index a = of.first; a < of.first + of.size; ++a) pseudo += fit.column[a].sd * fit.column[a].sd * fit.v(a, a);
  return std::max(least, 1.0 - state.K().prior_rows * pseudo / static_cast<double>(of.size));
}

double member_evidence(const State& state, const Fit& fit, const Member& of) {
  return block_quadratic(state, fit, of, fit.V) / state.now().s2;
}

}  // namespace keyhole::thrifty
