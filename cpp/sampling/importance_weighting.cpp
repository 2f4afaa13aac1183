#include "sampling/importance_weighting.hpp"

#include <cmath>

namespace keyhole::sampling {

void estimate_moments(std::span<const double> x, linalg::ConstMatrixView P, std::span<double> x_hat,
                      linalg::MatrixView h) {
  const auto n = static_cast<Index>(x.size());
  for (Index i = 0; i < n; ++i) {
    const bool known = !std::isnan(x[i]);
    x_hat[i] = known ? x[i] / P(i, i) : 0.0;
    for (Index j = 0; j < n; ++j) h(i, j) = known && !std::isnan(x[j]) ? x[i] * x[j] / P(i, j) : 0.0;
  }
}

void estimate_round(std::span<const double> w_hat, std::span<const Index> B, std::span<const double> x, double y,
                    linalg::ConstMatrixView P, std::span<double> v, linalg::MatrixView h, std::span<double> deviation) {
  estimate_moments(x, P, v, h);
  const auto n = static_cast<Index>(B.size());
  for (Index i = 0; i < n; ++i) {
    v[i] *= y;
    deviation[i] = v[i];
    for (Index j = 0; j < n; ++j) deviation[i] -= h(i, j) * w_hat[B[j]];
  }
}

}  // namespace keyhole::sampling
