// Masters of a bandit over supports, and a hedge over all of them.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::peers {

using linalg::Index;

// p_j = 4 / (eta (L_j - z))^2 with z < min L such that sum p = 1: the 1/2-Tsallis regularised leader, by Newton's method
// from z = min L - 2/eta, where the sum is at least 1 (the best arm alone has 1); it comes down from there monotonically.
void tsallis_law(std::span<const double> L, double eta, std::span<double> p);

// p_i <- 1 / (1/p_i + eta_i (loss_i - z)), with z in [min loss, max loss] such that they sum to 1 (bisection).
void log_barrier_step(std::span<const double> p, std::span<const double> loss, std::span<const double> eta,
                      std::span<double> next);

// The hedge of Foster, Kale and Karloff: the supports U (N x k), their weights W, losses L and sums of squared gradients
// G.
struct SupportHedge {
  linalg::BasicMatrixView<const Index> U;
  linalg::MatrixView W;
  std::span<double> L;
  std::span<double> G;
};

// For every support: first add w'hw - 2 z'w to its loss, then step w along the gradient and project it on |w| <= R. The
// y^2 that every support's loss shares is left out: a hedge does not see it. `adaptive` divides the step by sqrt(G).
void hedge_step(const SupportHedge& hedge, linalg::ConstMatrixView h, std::span<const double> z, double eta,
                bool adaptive, double R);

}  // namespace keyhole::peers
