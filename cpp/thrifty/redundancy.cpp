#include "thrifty/redundancy.hpp"

namespace keyhole::thrifty {

namespace {

// Rows of equal values (or without a value) that make a source constant (or unobserved): at least, and per root of the
// rows.
constexpr double least_constant_rows = 100.0, constant_rows_per_root = 2.0;
// Rows that must agree with least squares, beyond one for each column.
constexpr Index least_agreeing_rows = 20;
// Share of the variance of an attribute that rounding may leave.
constexpr double rounding_share = 1e-6;
// Share of the variance: an attribute whose estimated partial variance is larger is not tested by least squares.
constexpr double test_share = 0.0501;

// Whether attribute j is determined by the columns of the support other than itself.
bool determined(const State& state, Index j) {
  const Scalars& scalars = state.scalars();
  // The products of (columns, x_j, 1): x_j is entry m, the constant entry n. A member's own column is left out below.
  const Index own = state.attr[j].column, m = scalars.m, n = m + 1, need = m + least_agreeing_rows;
  std::vector<double> sums(static_cast<std::size_t>((n + 1) * (n + 1)), 0.0), v(static_cast<std::size_t>(n + 1));
  Index found = 0;
  for (Index i = scalars.n_rows - 1; i >= 0 && found < need; --i) {
    const Row& row = state.row[state.stored_row(i)];
    Index shown = 0;
    std::fill(v.begin(), v.end(), 0.0);
    for (Index p = row.begin; p < row.begin + row.size; ++p) {
      const Index at = state.value[p].j, a = at == j ? m : state.attr[at].column;
      if (a < 0) continue;
      v[a] = state.value[p].x;
      ++shown;
    }
    if (shown < m + (own < 0 ? 1 : 0)) continue;
    v[n] = 1.0;
    ++found;
    for (Index a = 0; a <= n; ++a) {
      for (Index e = 0; e <= n; ++e) sums[a * (n + 1) + e] += v[a] * v[e];
    }
  }
  if (found < need) return false;
  std::vector<double> A(static_cast<std::size_t>(m * m)), b(static_cast<std::size_t>(m)), inverse;
  const auto centred = [&](Index a, Index e) {
    return sums[a * (n + 1) + e] - sums[a * (n + 1) + n] * sums[e * (n + 1) + n] / sums[n * (n + 1) + n];
  };
  for (Index a = 0; a < m; ++a) {
    b[a] = a == own ? 0.0 : centred(a, m);
    for (Index e = 0; e < m; ++e) A[a * m + e] = a == own || e == own ? 0.0 : centred(a, e);
  }
  const double all = centred(m, m);
  const double explained = quadratic(A.data(), b.data(), m, inverse, state.scratch.workspace);
  return all > 0.0 && all - explained <= rounding_share * all;
}

// Whether a source outside the support tells nothing that the support does not.
bool tells_nothing(const State& state, const Source& source) {
  const Scalars& scalars = state.scalars();
  const double root = std::sqrt(static_cast<double>(scalars.n_labels));
  const double enough = std::max(least_constant_rows, constant_rows_per_root * root);
  if (source.n_observed == 0) return static_cast<double>(source.n_bought) >= enough;
  bool constant = static_cast<double>(source.n_observed) >= enough, alike = scalars.m > 0;
  for (Index i = 0; i < source.size; ++i) {
    const Attribute& attribute = state.attr[state.source_attributes[source.first + i]];
    constant = constant && attribute.unit == 0.0;
    const double n = attribute.sum_weight, mean = attribute.sum_x / n, c = attribute.partial_variance;
    const double variance = n > 0.0 ? attribute.sum_xx / n - mean * mean : 0.0;
    alike = alike && attribute.n_rows >= scalars.m + least_agreeing_rows && c > 0.0 && c <= test_share * variance;
  }
  for (Index i = 0; alike && i < source.size; ++i) {
    alike = determined(state, state.source_attributes[source.first + i]);
  }
  return constant || alike;
}

}  // namespace

Index mark_redundant(const State& state) {
  const Scalars& scalars = state.scalars();
  // With a half-life things may change: every 1 / (1 - decay) rows a few looks are allowed again.
  const double decay = state.settings().decay, pause = decay < 1.0 ? 1.0 / (1.0 - decay) : infinity;
  const Index looks = static_cast<Index>(state.constants().least_rows);
  for (Source& source : state.source) {
    if (source.member) continue;
    const bool redundant = tells_nothing(state, source);
    const double since = static_cast<double>(scalars.n_labels - source.redundant_since);
    if (source.redundant && redundant && since > pause) {
      source.redundant = 0;
      source.judged_again_at = source.n_bought + looks;
    } else if (!source.redundant || !redundant) {
      source.redundant = redundant && source.n_bought >= source.judged_again_at;
      source.redundant_since = scalars.n_labels;
    }
  }
  const std::vector<Member> list = members(state);
  for (auto b = list.rbegin(); b != list.rend() && list.size() > 1; ++b) {
    if (state.source[b->source].free || b->size > 1) continue;
    const Column& column = state.fit.column[b->first];
    const bool alike = column.partial_variance <= test_share * column.sd * column.sd;
    if (alike && determined(state, column.j)) return b->source;
  }
  return -1;
}

}  // namespace keyhole::thrifty
