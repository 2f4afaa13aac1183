#include "thrifty/evidence.hpp"

namespace keyhole::thrifty {

namespace {

// Sweeps of Gauss-Seidel in which the covariances that few joint rows show are completed by those of the other columns.
constexpr int covariance_sweeps = 3;
// Rows: more joint rows of one pair do not count for the mean squared correlation.
constexpr double most_rows_per_pair = 200.0;
// Rows: what the prior of the mean squared correlation counts for.
constexpr double prior_pair_rows = 50.0;
// Squared correlation: the prior of the mean.
constexpr double prior_squared_correlation = 1.0 / 8.0;
// Squared correlation: the mean is taken to be at least this.
constexpr double least_squared_correlation = 1e-3;
// Rows: fewer joint rows of a pair say nothing about the mean squared correlation.
constexpr double least_joint_rows = 4.0;
// Standard errors: an expected |z| beyond this tells no more.
constexpr double most_expected_z = 25.0;
// Factor of the correlations of two attributes of one source, so that none is a sum of the others.
constexpr double shrunk_correlation = 0.995;
// Share of the residual variance that a candidate explains at most, so that the logarithm of the rest exists.
constexpr double most_explained_share = 0.98;
// Present rows: what shows no more than this has all but faded, and squares of its standard error would overflow.
constexpr double least_weighted_rows = 1e-30;
// Share: a relative change of s2 beyond which rows are weighted again.
constexpr double residual_change = 0.05;

// The weighted square of what attribute j has of its own.
double& partial_square(const State& state, Index j) {
  const Attribute& attribute = state.attr[j];
  const Source& source = state.source[attribute.source];
  return state.partial_products[source.first_product + attribute.slot * source.size + attribute.slot];
}

// Load a stored row: scratch.deviation and scratch.observed of the columns. Returns how many columns it lacks, or -1 if
// it shows only members.
Index load_row(const State& state, const Row& row) {
  State::Scratch& scratch = state.scratch;
  const Index m = state.scalars().m;
  Index n_missing = m;
  bool shows_candidate = false;
  for (Index a = 0; a < m; ++a) {
    scratch.deviation[a] = 0.0;
    scratch.observed[a] = 0;
  }
  for (Index p = row.begin; p < row.begin + row.size; ++p) {
    const Value& value = state.value[p];
    const Index a = state.attr[value.j].column;
    if (a >= 0) {
      scratch.deviation[a] = value.x - state.fit.column[a].x_bar;
      scratch.observed[a] = 1;
      --n_missing;
    } else {
      shows_candidate = true;
    }
  }
  return shows_candidate ? n_missing : -1;
}

// Whether the loaded row lacks the columns of scratch.missing, which the row before it lacked.
bool same_missing_columns(const State& state, Index n_missing, Index n_missing_before) {
  if (n_missing != n_missing_before) return false;
  for (Index b = 0; b < n_missing; ++b) {
    if (state.scratch.observed[state.scratch.missing[b]]) return false;
  }
  return true;
}

// Impute the missing columns of the loaded row, and return its residual. Most rows lack the same columns as the row
// before, and then their conditional covariance is still in scratch.
double impute_and_take_residual(const State& state, const Row& row, Index n_missing, Index n_missing_before) {
  const Scalars& scalars = state.scalars();
  if (!same_missing_columns(state, n_missing, n_missing_before)) condition_on_observed(state, state.fit, scalars.m);
  impute_missing(state, state.fit, scalars.m, n_missing);
  double e = row.y - (scalars.m > 0 ? state.fit.label->y_bar : scalars.y_mean);
  for (Index a = 0; a < scalars.m; ++a) e -= state.fit.column[a].w * state.scratch.deviation[a];
  return e;
}

// The own share c / (c + u_B' C_B u_B) of attribute j in a row that lacks the columns B.
double own_share(const State& state, Index j, const Pair* pair, Index n_missing) {
  const Index* missing = state.scratch.missing.data();
  const double* C = state.scratch.missing_covariance.data();
  double shared = 0.0;
  for (Index b = 0; b < n_missing; ++b, C += n_missing) {
    const double u = pair[missing[b]].u;
    if (u == 0.0) continue;
    for (Index l = 0; l < n_missing; ++l) shared += u * pair[missing[l]].u * C[l];
  }
  const double c = state.attr[j].partial_variance;
  return shared > 0.0 && c > 0.0 ? c / (c + shared) : 1.0;
}

// Add the attributes value[begin : end] of one source to their weighted sums. e: the residual of the row; noise_weight:
// the residual noise weight s2 / (s2 + w_B' C_B w_B).
void add_values(const State& state, Index begin, Index end, double e, double weight, double noise_weight,
                Index n_missing) {
  State::Scratch& scratch = state.scratch;
  const Index m = state.scalars().m, *observed = scratch.observed.data(), *missing = scratch.missing.data();
  const double *deviation = scratch.deviation.data(), *hidden_covariance = scratch.product.data();
  double share = 1.0;
  for (Index p = begin; p < end; ++p) {
    const Index j = state.value[p].j;
    share = std::min(share, own_share(state, j, state.pair(j), n_missing));
  }
  weight *= share;
  const Source& source = state.source[state.attr[state.value[begin].j].source];
  double* products = state.partial_products.data() + source.first_product;
  scratch.partial.resize(static_cast<std::size_t>(end - begin));
  for (Index p = begin; p < end; ++p) {
    const Value& value = state.value[p];
    Attribute& attribute = state.attr[value.j];
    Pair* pair = state.pair(value.j);
    double partial = value.x - attribute.sum_x / attribute.sum_weight;  // x_j - u'x
    for (Index a = 0; a < m; ++a) partial -= pair[a].u * deviation[a];
    scratch.partial[p - begin] = partial;
    for (Index l = begin; l <= p; ++l) {
      const Index slot = state.attr[state.value[l].j].slot;
      const double product = weight * partial * scratch.partial[l - begin];
      products[attribute.slot * source.size + slot] += product;
      if (l < p) products[slot * source.size + attribute.slot] += product;
    }
    const double full_weight = weight * noise_weight, weighted_partial = weight * partial;
    attribute.weighted_n += full_weight;
    attribute.weighted_e += full_weight * e;
    attribute.weighted_xe += full_weight * value.x * e;
    for (Index a = 0; a < m; ++a) {
      if (observed[a]) {
        pair[a].partial_n += weight;
        pair[a].partial_xa += weighted_partial * deviation[a];
      }
      pair[a].x_ae += full_weight * deviation[a] * e;
    }
    for (Index b = 0; b < n_missing; ++b) pair[missing[b]].imputed_covariance += full_weight * hidden_covariance[b];
  }
}

// Add stored row t to the weighted sums of the attributes that it shows outside the support. n_missing_before is what
// this function returned for the row before, -1 for the first row.
Index add_row(const State& state, Index t, Index n_missing_before) {
  const Scalars& scalars = state.scalars();
  const Row& row = state.row[t];
  const Index n_missing = load_row(state, row);
  if (n_missing < 0 || row.weight <= 0.0) return n_missing_before;
  const double e = impute_and_take_residual(state, row, n_missing, n_missing_before);
  const double hidden = imputation_noise(state, n_missing);
  const double noise_weight = hidden_noise_weight(scalars.s2, hidden);
  for (Index p = row.begin; p < row.begin + row.size;) {
    const Index s = state.attr[state.value[p].j].source;
    Index end = p + 1;
    while (end < row.begin + row.size && state.attr[state.value[end].j].source == s) ++end;
    if (state.attr[state.value[p].j].column < 0) add_values(state, p, end, e, row.weight, noise_weight, n_missing);
    p = end;
  }
  return n_missing;
}

void clear_weighted_sums(const State& state, Index j) {
  Attribute& attribute = state.attr[j];
  attribute.weighted_n = attribute.weighted_e = attribute.weighted_xe = 0.0;
  const Source& source = state.source[attribute.source];
  double* products = state.partial_products.data() + source.first_product + attribute.slot * source.size;
  std::fill(products, products + source.size, 0.0);
  Pair* pair = state.pair(j);
  for (Index a = 0; a < state.width; ++a) {
    pair[a].x_ae = pair[a].imputed_covariance = pair[a].partial_n = pair[a].partial_xa = 0.0;
  }
}

// The correlation of x_j and x_a in the rows that show both; nearly exact for copies.
double correlation(const Pair& pair, double most) {
  const double x_j = pair.x_j / pair.n, x_a = pair.x_a / pair.n;
  const double var_j = pair.x_jj / pair.n - x_j * x_j, var_a = pair.x_aa / pair.n - x_a * x_a;
  if (var_j <= 1e-12 * x_j * x_j || var_a <= 1e-12 * x_a * x_a) return 0.0;
  return std::clamp((pair.x_ja / pair.n - x_j * x_a) / std::sqrt(var_j * var_a), -most, most);
}

// The variance of an attribute in the rows that show it; 0 while it looks constant.
double candidate_variance(const Attribute& attribute) {
  const double mean = attribute.sum_x / attribute.sum_weight, square = attribute.sum_xx / attribute.sum_weight;
  const double variance = square - mean * mean;
  return variance > 1e-13 * square ? variance : 0.0;
}

// The variance of x_j - u'x in the weighted rows; 0 if they were weighted with u = 0. `variance`: that of x_j.
double weighted_partial_variance(const State& state, Index j, double variance) {
  const Pair* pair = state.pair(j);
  for (Index a = 0; a < state.scalars().m; ++a) {
    if (pair[a].u == 0.0) continue;
    const double mean_square = partial_square(state, j) / state.attr[j].sum_weight;
    return std::min(variance, std::max(mean_square, 1e-9 * variance));
  }
  return 0.0;
}

// What the n rows that show an attribute and a column say about their correlation.
struct JointCorrelation {
  double rho;     // as observed
  double shrunk;  // after shrinkage
  double prior;   // prior mean square of the correlation, at least what was observed beyond chance
  double noise;   // variance of rho in one row
};

JointCorrelation joint_correlation(const State& state, const Pair& pair, double n) {
  const double s = state.scalars().shrinkage, log_s = 2.0 * std::log(s);
  const double rho = correlation(pair, state.constants().max_correlation);
  const double prior = std::max(1.0 / s, rho * rho - log_s / n), noise = std::min(1.0, 1.0 - rho * rho + 2.0 / n);
  return {rho, rho * n * prior / (n * prior + noise), prior, noise};
}

// Estimate q_j from the joint rows alone. For each column a: scratch.shrunk_cov, q_ja shrunk; scratch.joint_cov, q_ja
// as observed; scratch.trust, the weight of the observation beside what the other columns imply; scratch.cov_variance,
// the variance of q_ja. `variance`: that of x_j; `partial`: weighted_partial_variance.
void estimate_covariances(const State& state, Index j, double variance, double partial) {
  const Scalars& scalars = state.scalars();
  const Fit& fit = state.fit;
  const Pair* pair = state.pair(j);
  State::Scratch& scratch = state.scratch;
  double *shrunk_cov = scratch.shrunk_cov.data(), *joint_cov = scratch.joint_cov.data();
  double *trust = scratch.trust.data(), *cov_variance = scratch.cov_variance.data();
  const double g = scalars.row_weight, sd = std::sqrt(variance);
  double least = 1.0, next_least = 1.0;  // share of x_j that the most similar column leaves, and the next
  Index nearest = -1;
  for (Index a = 0; a < scalars.m; ++a) {
    const double n = pair[a].n / g;
    shrunk_cov[a] = joint_cov[a] = 0.0;
    trust[a] = 1.0 / scalars.shrinkage;  // until the second loop: the prior mean square of the correlation
    cov_variance[a] = 1.0;               // until the second loop: the variance of the correlation in one row
    if (n <= 0.0) continue;
    const JointCorrelation joint = joint_correlation(state, pair[a], n);
    const double scale = sd * fit.column[a].sd;
    shrunk_cov[a] = joint.shrunk * scale;
    joint_cov[a] = joint.rho * scale;
    trust[a] = joint.prior;
    cov_variance[a] = joint.noise;
    if (partial > 0.0 && pair[a].partial_n > 0.0) {
      // The rows were weighted with u, so q = C u plus the covariance of x_a with x_j - u'x.
      const double rows = pair[a].partial_n / g, most = state.constants().max_correlation * scale;
      double cov = pair[a].partial_xa / pair[a].partial_n;
      for (Index e = 0; e < scalars.m; ++e) cov += fit.cov(a, e) * pair[e].u;
      shrunk_cov[a] = joint_cov[a] = std::clamp(cov, -most, most);
      cov_variance[a] = std::min(1.0, partial / variance * (1.0 + 2.0 / rows) + 4.0 / (rows * rows));
    }
    const double leaves = 1.0 - joint.shrunk * joint.shrunk;
    if (leaves < least) {
      next_least = least;
      least = leaves;
      nearest = a;
    } else {
      next_least = std::min(next_least, leaves);
    }
  }
  for (Index a = 0; a < scalars.m; ++a) {
    const double sd2 = fit.column[a].sd * fit.column[a].sd, n = (partial > 0.0 ? pair[a].partial_n : pair[a].n) / g;
    const double left = a == nearest ? next_least : least;
    const double prior_rows = fit.p(a, a) * sd2 * cov_variance[a] / (trust[a] * left), all = n + prior_rows;
    trust[a] = all > 0.0 ? n / all : 0.0;
    cov_variance[a] = all > 0.0 ? variance * sd2 * cov_variance[a] / all : 0.0;
  }
}

// Regress attribute j on the support: writes u = P q and its partial variance c, and returns its variance, 0 if it
// looks constant. With few joint rows q_ja is rather what the other columns imply, -sum_e P_ae q_je / P_aa.
double regress_on_support(const State& state, Index j, double* u) {
  const Scalars& scalars = state.scalars();
  const Fit& fit = state.fit;
  Attribute& attribute = state.attr[j];
  const double variance = candidate_variance(attribute);
  if (variance <= 0.0) return 0.0;
  const Pair* pair = state.pair(j);
  const double partial = weighted_partial_variance(state, j, variance);
  estimate_covariances(state, j, variance, partial);
  const Index m = scalars.m;
  double* q = state.scratch.shrunk_cov.data();
  const double *joint = state.scratch.joint_cov.data(), *trust = state.scratch.trust.data();
  for (int sweep = 0; sweep < covariance_sweeps; ++sweep) {
    for (Index a = 0; a < m; ++a) {
      const double p = fit.p(a, a);
      double implied = 0.0;
      for (Index e = 0; e < a; ++e) implied -= fit.p(a, e) * q[e];
      for (Index e = a + 1; e < m; ++e) implied -= fit.p(a, e) * q[e];
      q[a] = trust[a] * joint[a] + (p > 0.0 ? (1.0 - trust[a]) * implied / p : 0.0);
    }
  }
  double c = variance, fitted_by_chance = 0.0;  // fitted_by_chance: share of the variance
  for (Index a = 0; a < m; ++a) {
    u[a] = 0.0;
    for (Index e = 0; e < m; ++e) u[a] += fit.p(a, e) * q[e];
    c -= u[a] * q[a];
    const double n = partial > 0.0 ? pair[a].partial_n : pair[a].n;
    fitted_by_chance += n > 0.0 ? trust[a] * scalars.row_weight / n : 0.0;
  }
  if (partial > 0.0) c = partial;
  const double alike = state.constants().max_correlation;
  const double least = (1.0 - alike * alike) * variance;
  attribute.partial_variance = std::max(c / std::max(0.5, 1.0 - fitted_by_chance), least);
  return variance;
}

// Estimate the residual covariance r, c and se of attribute j, and write u; returns its variance, 0 if nothing is
// known.
double regress_attribute(const State& state, Index j, double* u) {
  const Scalars& scalars = state.scalars();
  Attribute& attribute = state.attr[j];
  if (attribute.n_rows < 2) return 0.0;
  const double variance = regress_on_support(state, j, u);
  if (variance <= 0.0 || attribute.weighted_n <= least_weighted_rows * scalars.row_weight) return 0.0;
  const Pair* pair = state.pair(j);
  const double* cov_variance = state.scratch.cov_variance.data();
  double r = attribute.weighted_xe - attribute.sum_x / attribute.sum_weight * attribute.weighted_e, by_cov = 0.0;
  const bool joint_rows_possible = state.settings().k > 1 || scalars.m > 1;
  for (Index a = 0; a < scalars.m; ++a) {
    r -= u[a] * (pair[a].x_ae + pair[a].imputed_covariance);
    if (!joint_rows_possible) continue;
    double slope = 0.0;  // of r in q_ja, by the rows in which columns were imputed
    for (Index e = 0; e < scalars.m; ++e) slope += state.fit.p(a, e) * pair[e].imputed_covariance;
    by_cov += (slope / attribute.weighted_n) * (slope / attribute.weighted_n) * cov_variance[a];
  }
  attribute.residual_covariance = r / attribute.weighted_n;
  const double by_noise = attribute.partial_variance * scalars.s2 * scalars.row_weight / attribute.weighted_n;
  attribute.standard_error = std::sqrt(by_noise + by_cov);
  return variance;
}

}  // namespace

void add_to_moments(const State& state, Index t) {
  const Row& row = state.row[t];
  for (Index p = row.begin; p < row.begin + row.size; ++p) {
    const Index j = state.value[p].j;
    Attribute& attribute = state.attr[j];
    if (attribute.column >= 0) continue;
    const double x = state.value[p].x, weight = row.weight;
    attribute.sum_weight += weight;
    attribute.sum_x += weight * x;
    attribute.sum_xx += weight * x * x;
    attribute.n_rows += 1;
    Pair* pair = state.pair(j);
    for (Index o = row.begin; o < row.begin + row.size; ++o) {
      const Index a = state.attr[state.value[o].j].column;
      if (a < 0) continue;
      const double x_a = state.value[o].x;
      Pair& both = pair[a];
      both.n += weight;
      both.x_j += weight * x;
      both.x_a += weight * x_a;
      both.x_jj += weight * x * x;
      both.x_aa += weight * x_a * x_a;
      both.x_ja += weight * x * x_a;
    }
  }
}

void add_to_weighted_sums(const State& state, Index t) {
  const bool shows_candidate = add_row(state, t, -1) >= 0;
  state.scalars().n_candidate_rows += shows_candidate;
}

void rebuild_sums(const State& state) {
  for (Index j = 0; j < static_cast<Index>(state.attr.size()); ++j) {
    Attribute& attribute = state.attr[j];
    if (attribute.n_observed == 0) continue;  // its sums are 0: do not touch memory that was never touched
    attribute.sum_weight = attribute.sum_x = attribute.sum_xx = 0.0;
    attribute.n_rows = 0;
    Pair* pair = state.pair(j);
    for (Index a = 0; a < state.width; ++a) pair[a] = Pair{};
    clear_weighted_sums(state, j);
  }
  for (Source& source : state.source) source.bought_when_rejected = 0;
  for (Index i = 0; i < state.scalars().n_rows; ++i) add_to_moments(state, state.stored_row(i));
}

void reweight(const State& state) {
  Scalars& scalars = state.scalars();
  const Constants& constants = state.constants();
  const double n = std::min(state.rows(), static_cast<double>(scalars.n_labels));
  const bool all_stored = scalars.n_rows == scalars.n_labels;  // else the rows that left the ring would be forgotten
  const bool more_rows = scalars.n_candidate_rows >= constants.refit_rows * n ||
                         scalars.n_labels - scalars.reweighted_at >= constants.reweight_rows * n;
  const bool other_noise = std::abs(scalars.s2 - scalars.reweighted_s2) > residual_change * scalars.reweighted_s2;
  const bool other_support = scalars.reweighted_support != scalars.n_support_changes;
  const int times = other_support ? 2 : (more_rows || other_noise) && all_stored ? 1 : 0;
  if (times == 0) return;
  const Index d = static_cast<Index>(state.attr.size());
  double* u = state.scratch.u.data();
  for (int i = 0; i < times; ++i) {
    for (Index j = 0; j < d; ++j) {
      const Attribute& attribute = state.attr[j];
      if (attribute.n_observed == 0 || attribute.column >= 0 || attribute.n_rows < 2) continue;
      if (regress_on_support(state, j, u) <= 0.0) continue;
      for (Index a = 0; a < scalars.m; ++a) state.pair(j)[a].u = u[a];
    }
    for (Index j = 0; j < d; ++j) {
      if (state.attr[j].n_observed > 0) clear_weighted_sums(state, j);
    }
    Index n_missing = -1;
    for (Index t = 0; t < scalars.n_rows; ++t) n_missing = add_row(state, state.stored_row(t), n_missing);
  }
  scalars.reweighted_support = scalars.n_support_changes;
  scalars.reweighted_at = scalars.n_labels;
  scalars.reweighted_s2 = scalars.s2;
  scalars.n_candidate_rows = 0;
}

double shrinkage(const State& state) {
  const Scalars& scalars = state.scalars();
  double sum = 0.0, rows = 0.0;
  for (Index j = 0; j < static_cast<Index>(state.attr.size()); ++j) {
    const Attribute& attribute = state.attr[j];
    if (attribute.column >= 0 || attribute.n_rows < 3) continue;
    const double variance = candidate_variance(attribute), x_bar = attribute.sum_x / attribute.sum_weight;
    if (variance <= 0.0) continue;
    for (Index a = 0; a < scalars.m; ++a) {
      const Pair& pair = state.pair(j)[a];
      const Column& column = state.fit.column[a];
      const double n = pair.n / scalars.row_weight;
      if (n < least_joint_rows || column.sd <= 0.0) continue;
      const double weight = std::min(n, most_rows_per_pair), products = pair.x_ja - x_bar * pair.x_a;
      const double cov = (products - column.x_bar * pair.x_j + pair.n * x_bar * column.x_bar) / pair.n;
      sum += weight * (cov * cov / (variance * column.sd * column.sd) - 1.0 / n);
      rows += weight;
    }
  }
  const double mean = (sum + prior_pair_rows * prior_squared_correlation) / (rows + prior_pair_rows);
  return 1.0 / std::clamp(mean, least_squared_correlation, 1.0);
}

namespace {

// A source of one attribute.
Candidate single_candidate(const State& state, Index s, double* u) {
  const Index j = state.source_attributes[state.source[s].first];
  const Attribute& attribute = state.attr[j];
  Candidate out;
  out.source = s;
  out.u = u;
  out.variance = regress_attribute(state, j, u);
  if (out.variance <= 0.0) return out;
  out.known = attribute.n_rows >= static_cast<Index>(state.constants().least_rows) && attribute.weighted_n > 0.0;
  out.r = attribute.residual_covariance;
  out.c = attribute.partial_variance;
  out.se = attribute.standard_error;
  out.z2 = out.se > 0.0 ? (out.r / out.se) * (out.r / out.se) : 0.0;
  out.rows = attribute.weighted_n / state.scalars().row_weight;
  return out;
}

// A source of several attributes. `u` has room for (q + 1) m numbers: row 0 for the combination, the others for
// attributes.
Candidate panel_candidate(const State& state, Index s, double* u) {
  const Source& source = state.source[s];
  const Scalars& scalars = state.scalars();
  const Index m = scalars.m;
  Candidate out;
  out.source = s;
  out.u = u;
  std::vector<Index> varying;  // its attributes that can be regressed; their u are rows 1, 2, ...
  for (Index i = 0; i < source.size; ++i) {
    const Index j = state.source_attributes[source.first + i];
    const Index row = static_cast<Index>(varying.size()) + 1;
    if (regress_attribute(state, j, u + row * m) > 0.0) varying.push_back(j);
  }
  const Index n = static_cast<Index>(varying.size());
  if (n == 0) return out;
  std::vector<double> V(static_cast<std::size_t>(n * n)), N(V.size()), r(static_cast<std::size_t>(n)), inverse;
  double weighted_n = infinity;
  Index rows = state.attr[varying[0]].n_rows;
  for (Index i = 0; i < n; ++i) {
    const Attribute& attribute = state.attr[varying[i]];
    r[i] = attribute.residual_covariance;
    weighted_n = std::min(weighted_n, attribute.weighted_n);
    rows = std::min(rows, attribute.n_rows);
    for (Index l = 0; l < n; ++l) {
      const Attribute& other = state.attr[varying[l]];
      const double scale = std::sqrt(partial_square(state, varying[i]) * partial_square(state, varying[l]));
      const double product = state.partial_products[source.first_product + attribute.slot * source.size + other.slot];
      const double rho = i == l ? 1.0 : scale > 0.0 ? shrunk_correlation * std::clamp(product / scale, -1.0, 1.0) : 0.0;
      V[i * n + l] = rho * std::sqrt(attribute.partial_variance * other.partial_variance);
      N[i * n + l] = rho * attribute.standard_error * other.standard_error;
    }
  }
  out.z2 = quadratic(N.data(), r.data(), n, inverse, state.scratch.workspace);
  const double gain = quadratic(V.data(), r.data(), n, inverse, state.scratch.workspace);
  out.known = rows >= static_cast<Index>(state.constants().least_rows) + n && weighted_n > 0.0;
  out.rows = weighted_n / scalars.row_weight;
  for (Index a = 0; a < m; ++a) out.u[a] = 0.0;
  if (n == 1) inverse.assign(1, V[0] > 0.0 ? 1.0 / V[0] : 0.0);
  if (gain > 0.0) {  // the combination V^-1 r, scaled so that its partial variance is 1
    for (Index i = 0; i < n; ++i) {
      double coefficient = 0.0;
      for (Index l = 0; l < n; ++l) coefficient += inverse[i * n + l] * r[l];
      coefficient /= std::sqrt(gain);
      for (Index a = 0; a < m; ++a) out.u[a] += coefficient * u[(i + 1) * m + a];
    }
  }
  out.c = 1.0;
  out.se = out.z2 > 0.0 ? std::sqrt(gain / out.z2) : std::sqrt(scalars.s2 * scalars.row_weight / weighted_n);
  out.r = std::sqrt(std::max(0.0, gain - (static_cast<double>(n) - 1.0) * out.se * out.se));
  out.variance = 1.0;
  for (Index a = 0; a < m; ++a) {
    for (Index e = 0; e < m; ++e) out.variance += out.u[a] * out.u[e] * state.fit.cov(a, e);
  }
  return out;
}

}  // namespace

Candidate evaluate_candidate(const State& state, Index s, std::vector<double>& u) {
  const Index m = state.scalars().m, q = state.source[s].size;
  if (static_cast<Index>(u.size()) < (q + 1) * (m + 1)) u.resize(static_cast<std::size_t>((q + 1) * (m + 1)));
  return q == 1 ? single_candidate(state, s, u.data()) : panel_candidate(state, s, u.data());
}

double corrected_evidence(const State& state, const Candidate& candidate) {
  const double q = static_cast<double>(state.source[candidate.source].size);
  const double explained = candidate.r * candidate.r / (candidate.c * state.scalars().s2);
  const double share = std::min(explained, most_explained_share);
  // The candidate lowers the residual variance that z^2 is divided by: the log likelihood ratio is -n ln(1 - share).
  const double log_factor = share > 1e-6 ? -std::log1p(-share) / share : 1.0;
  const double bartlett = std::max(0.0, 1.0 - (state.constants().fit_by_chance + q - 1.0) / candidate.rows);
  return candidate.z2 * log_factor * bartlett;
}

void sum_jointly(const State& state, std::span<const Index> attributes, std::vector<JointSums>& out) {
  const Scalars& scalars = state.scalars();
  const std::size_t size = attributes.size();
  out.assign(size * size, JointSums{});
  for (std::size_t i = 0; i < size; ++i) state.attr[attributes[i]].scratch_index = static_cast<Index>(i);
  std::vector<std::pair<Index, double>> partials;  // which of the attributes a row shows, and x_j - u'x of each
  Index n_missing_before = -1;
  for (Index i = 0; i < scalars.n_rows; ++i) {
    const Row& row = state.row[state.stored_row(i)];
    partials.clear();
    for (Index p = row.begin; p < row.begin + row.size; ++p) {
      const Index at = state.attr[state.value[p].j].scratch_index;
      if (at >= 0) partials.emplace_back(at, state.value[p].x);
    }
    if (partials.size() < 2 || row.weight <= 0.0) continue;
    const Index n_missing = load_row(state, row);
    const double e = impute_and_take_residual(state, row, n_missing, n_missing_before);
    n_missing_before = n_missing;
    for (auto& [at, x] : partials) {
      const Pair* pair = state.pair(attributes[at]);
      for (Index a = 0; a < scalars.m; ++a) x -= pair[a].u * state.scratch.deviation[a];
    }
    for (const auto& [first, x] : partials) {
      for (const auto& [second, z] : partials) {
        if (first >= second) continue;
        JointSums& sums = out[first * size + second];
        sums.n += row.weight;
        sums.x += row.weight * x;
        sums.z += row.weight * z;
        sums.e += row.weight * e;
        sums.xx += row.weight * (x * x);
        sums.zz += row.weight * (z * z);
        sums.xz += row.weight * (x * z);
        sums.xe += row.weight * (x * e);
        sums.ze += row.weight * (z * e);
      }
    }
  }
  for (const Index j : attributes) state.attr[j].scratch_index = -1;
}

void losses_beside(const State& state, const Candidate& candidate, double r, std::span<const Member> list,
                   double* losses) {
  const Fit& fit = state.fit;
  const double *u = candidate.u, c = candidate.c;
  std::vector<double> P, w, inverse;  // P' and w' of the columns of one member
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Index first = list[i].first, size = list[i].size;
    P.assign(static_cast<std::size_t>(size * size), 0.0);
    w.assign(static_cast<std::size_t>(size), 0.0);
    for (Index l = 0; l < size; ++l) {
      w[l] = fit.column[first + l].w - u[first + l] * r / c;
      for (Index e = 0; e < size; ++e) P[l * size + e] = fit.p(first + l, first + e) + u[first + l] * u[first + e] / c;
    }
    losses[i] = quadratic(P.data(), w.data(), size, inverse, state.scratch.workspace);
  }
}

double log_likelihood_ratio(const Candidate& candidate, Index q, double gain) {
  const double expected_z = std::min(std::sqrt(gain * candidate.c) / candidate.se, most_expected_z);
  const double square = expected_z * expected_z;
  return log_0f1(0.5 * static_cast<double>(q), 0.25 * square * candidate.z2) - 0.5 * square;
}

}  // namespace keyhole::thrifty
