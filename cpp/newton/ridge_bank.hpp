// Many small forward (Vovk-Azoury-Warmuth) forecasters in a few arrays.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::newton {

// N forecasters with k weights each: A^-1 is (N, k, k), b is (N, k).
struct RidgeBank {
  double* A_inv;
  linalg::MatrixView b;
};

// Forecaster which[j] predicts x' (A + x x')^-1 b for x = X[j], then A += x x' and b += y x.
void ridge_bank_step(const RidgeBank& bank, std::span<const linalg::Index> which, linalg::ConstMatrixView X, double y,
                     std::span<double> y_hat);

}  // namespace keyhole::newton
