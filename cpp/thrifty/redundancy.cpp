#include "thrifty/redundancy.hpp"

namespace keyhole::thrifty {

namespace {

// Equal values that make a constant, at least and per root of the rows; rows that must agree beyond one for each weight;
// what least squares leaves; the share of its own variance above which a column is not looked at closely.
constexpr double sure = 100.0, roots = 2.0, nothing = 1e-6, close = 0.0501;
constexpr Index agree = 20;

bool determined(const State& state, Index j) {
  const Now& now = state.now();
  const Index own = state.attr[j].place, m = now.m, n = m + 1, need = m + agree;
  std::vector<double> sums(static_cast<std::size_t>((n + 1) * (n + 1)), 0.0), v(static_cast<std::size_t>(n + 1));
  Index found = 0;
  for (Index i = now.n_rows - 1; i >= 0 && found < need; --i) {
    const Row& row = state.row[(now.oldest + i) % static_cast<Index>(state.row.size())];
    Index shown = 0;
    std::fill(v.begin(), v.end(), 0.0);
    for (Index p = row.begin; p < row.begin + row.size; ++p) {
      const Index at = state.value[p].j, a = at == j ? m : state.attr[at].place;
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
  return all > 0.0 && all - quadratic(A.data(), b.data(), m, inverse, state.scratch.joined) <= nothing * all;
}

}  // namespace

Index mark_redundant(const State& state) {
  const Now& now = state.now();
  // With a half-life the world may change: every 1 / (1 - decay) rows a few looks are allowed again.
  const double decay = state.given().decay, pause = decay < 1.0 ? 1.0 / (1.0 - decay) : infinity;
  const double many = std::max(sure, roots * std::sqrt(static_cast<double>(now.n_labels)));
  for (Index s = 0; s < static_cast<Index>(state.source.size()); ++s) {
    Source& me = state.source[s];
    if (me.member) continue;
    const bool unseen = me.observed == 0 && static_cast<double>(me.asked) >= many;
    bool constant = static_cast<double>(me.observed) >= many, alike = now.m > 0 && me.observed > 0;
    for (Index i = 0; i < me.size; ++i) {
      const Attribute& of = state.attr[state.listed[me.first + i]];
      constant = constant && of.unit == 0.0;
      const double v = of.n > 0.0 ? of.xx / of.n - (of.x / of.n) * (of.x / of.n) : 0.0;
      alike = alike && of.rows >= now.m + agree && of.c > 0.0 && of.c <= close * v;
    }
    for (Index i = 0; alike && i < me.size; ++i) alike = determined(state, state.listed[me.first + i]);
    const bool idle = unseen || constant || alike;
    if (me.determined && idle && static_cast<double>(now.n_labels - me.determined_at) > pause) {
      me.determined = 0;
      me.released = me.asked;
    } else if (!me.determined || !idle) {
      me.determined = idle && (me.released == 0 || me.asked >= me.released + static_cast<Index>(state.K().few));
      me.determined_at = now.n_labels;
    }
  }
  const std::vector<Member> list = members(state);
  for (auto b = list.rbegin(); b != list.rend() && list.size() > 1; ++b) {
    if (state.source[b->source].always) continue;
    bool alike = true;
    for (Index a = b->first; a < b->first + b->size; ++a) {
      alike = alike && state.fit.column[a].cond <= close * state.fit.column[a].sd * state.fit.column[a].sd;
    }
    if (alike && b->size == 1 && determined(state, state.fit.column[b->first].j)) return b->source;
  }
  return -1;
}

}  // namespace keyhole::thrifty
