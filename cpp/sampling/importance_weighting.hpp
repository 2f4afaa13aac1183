// Unbiased estimates of x, x x' and x y from a few observed entries of x.
//
//   x_hat_i = x_i / P[i]      h_ii = x_i^2 / P[i]      h_ij = x_i x_j / P[i, j]      for i, j in B, else 0
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::sampling {

using linalg::Index;

// x_hat and h from the observed x and the pair probabilities P (diagonal: single ones). A NaN counts as zero.
void estimate_moments(std::span<const double> x, linalg::ConstMatrixView P, std::span<double> x_hat,
                      linalg::MatrixView h);

// v = x_hat y, h, and by how much the estimate w_hat misses this round: deviation = v - h w_hat(B).
void estimate_round(std::span<const double> w_hat, std::span<const Index> B, std::span<const double> x, double y,
                    linalg::ConstMatrixView P, std::span<double> v, linalg::MatrixView h, std::span<double> deviation);

}  // namespace keyhole::sampling
