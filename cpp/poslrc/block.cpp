#include "poslrc/block.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "dantzig/width.hpp"
#include "linalg/cholesky.hpp"
#include "sampling/importance_weighting.hpp"
#include "sampling/observed.hpp"
#include "sampling/sampling.hpp"
#include "sampling/top_k.hpp"

namespace keyhole::poslrc {

namespace {

struct Scratch {
  Scratch(Index d, Index n)
      : P(n), h(n), x(n), v(n), deviation(n), q_B(n), w(d), l(d), pool(d), q(d), drawn(d), places(d),
        flags(new bool[static_cast<std::size_t>(d)]()), inside(flags.get(), static_cast<std::size_t>(d)) {
    std::ranges::fill(P.numbers, 1.0);
  }
  linalg::SquareMatrix P, h;
  std::vector<double> x, v, deviation, q_B;  // of what a round buys
  std::vector<double> w, l, pool, q;         // of all attributes
  std::vector<Index> drawn, places;
  std::unique_ptr<bool[]> flags;  // std::vector<bool> is no array of bool
  std::span<bool> inside;
};

void mark_support(const Estimate& e, std::span<bool> inside) {
  std::ranges::fill(inside, false);
  for (const Index i : e.S) inside[i] = true;
}

// What row t buys: S and SAMPLING from the rest; and the probabilities of what is observed.
void choose(const Estimate& e, const Draws& draws, Index t, std::span<Index> bought, Scratch& scratch) {
  const auto k = static_cast<Index>(e.S.size());
  const auto inside = scratch.inside;
  mark_support(e, inside);
  auto& C = scratch.places;  // the complement of S, in the order of the permutation
  Index n = 0;
  for (const Index i : e.permutation) {
    if (!inside[i]) C[n++] = i;
  }
  const auto w = std::span(scratch.pool).first(n);
  const auto q = std::span(scratch.q).first(n);
  for (Index i = 0; i < n; ++i) w[i] = e.uniform ? 0.0 : e.w_hat[C[i]];
  sampling::set_law(w, q);
  const Index m = static_cast<Index>(bought.size()) - k;
  const auto drawn = std::span(scratch.drawn).first(m);
  if (m < n) {
    sampling::join_draws(q, draws.u[t], draws.others.row(t), drawn);
  } else {
    for (Index i = 0; i < m; ++i) drawn[i] = i;
  }
  const auto q_B = std::span(scratch.q_B).first(m);
  std::ranges::copy(e.S, bought.begin());
  for (Index i = 0; i < m; ++i) {
    bought[k + i] = C[drawn[i]];
    q_B[i] = q[drawn[i]];
  }
  if (m < n) sampling::set_pair_probabilities(k, q_B, n, m, scratch.P.view());
}

// Gamma = s gamma_s.
void set_gamma(const Estimate& e, Index s, std::span<double> Gamma) {
  const auto rounds = static_cast<double>(s);
  if (!e.V.empty()) {
    dantzig::set_widths(e.V, e.scale / rounds, Gamma);
    for (double& Gamma_i : Gamma) Gamma_i *= rounds;
  } else {
    std::ranges::fill(Gamma, e.gammas[s - e.first] * rounds);
  }
}

// w_hat = w and S = its k largest entries, ascending.
void adopt(const Estimate& e, Scratch& scratch) {
  const auto k = static_cast<Index>(e.S.size());
  const auto inside = scratch.inside;
  mark_support(e, inside);
  std::ranges::copy(scratch.w, e.w_hat.begin());
  sampling::top_k(e.w_hat, k, inside, e.permutation, scratch.places);
  std::copy_n(scratch.places.begin(), k, e.S.begin());
  std::ranges::sort(e.S);
  e.solved += 1;
  e.zeros += std::ranges::all_of(scratch.w, [](double w_i) { return w_i == 0.0; });
}

}  // namespace

bool is_due(Index every, Index s) { return every == 0 ? (s & (s - 1)) == 0 : s % every == 0 || s == 1; }

Outcome play(const Estimate& e, const dantzig::Sequence& sequence, const Draws& draws, linalg::StridedMatrixView X,
             std::span<const double> y, std::span<double> y_hat, linalg::BasicMatrixView<Index> bought, Index t,
             Index patience, double tolerance) {
  const Index n = bought.cols;
  const auto k = e.S.size();
  Scratch scratch(X.cols, n);
  while (t < static_cast<Index>(y.size())) {
    const auto B = bought.row(t);
    choose(e, draws, t, B, scratch);
    for (Index i = 0; i < n; ++i) scratch.x[i] = X(t, B[i]);
    y_hat[t] = sampling::dot_observed(e.w_hat, B.first(k), scratch.x);
    const double label = y[t];
    t += 1;
    if (std::isnan(label)) continue;
    sampling::estimate_round(e.w_hat, B, scratch.x, label, scratch.P.view(), scratch.v, scratch.h.view(),
                             scratch.deviation);
    if (!e.V.empty()) {
      for (Index i = 0; i < n; ++i) e.V[B[i]] += scratch.deviation[i] * scratch.deviation[i];
    }
    dantzig::add_round(sequence, {B, scratch.h.view(), scratch.v});
    if (!is_due(e.every, sequence.s)) continue;
    set_gamma(e, sequence.s, sequence.work.c[0].value);
    const bool warm = sequence.m > 0;
    const dantzig::Ending ending = dantzig::solve(sequence, scratch.w, scratch.l);
    if (!dantzig::is_solved(ending, tolerance)) return {Stop::open, t, warm, ending};
    adopt(e, scratch);
    if (e.solved == e.zeros && e.solved == patience) return {Stop::silent, t, warm, ending};
  }
  return {Stop::done, t, false, {}};
}

}  // namespace keyhole::poslrc
