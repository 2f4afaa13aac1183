#include "peers/dual_averaging.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace keyhole::peers {

void dual_averaging_epoch(std::span<double> h, std::span<double> tally, std::span<const linalg::Index> S,
                          linalg::ConstMatrixView X, std::span<const double> y, double rate, bool adaptive, double R,
                          std::span<double> y_hat) {
  std::vector<char> inside(h.size(), 0);
  for (const linalg::Index j : S) inside[j] = 1;
  double outside = 0.0;  // |h|^2 outside S, which does not change
  for (std::size_t i = 0; i < h.size(); ++i) {
    if (!inside[i]) outside += h[i] * h[i];
  }
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto x = X.row(static_cast<linalg::Index>(t));
    double norm = outside;
    double u = 0.0;
    for (std::size_t j = 0; j < S.size(); ++j) {
      norm += h[S[j]] * h[S[j]];
      u -= h[S[j]] * x[j];
    }
    const double lam = rate * std::sqrt(adaptive ? tally[1] : tally[0] + 1.0);
    const double size = std::max(lam, std::sqrt(norm) / R);
    y_hat[t] = size > 0.0 ? u / size : 0.0;
    if (std::isnan(y[t])) continue;
    tally[0] += 1.0;
    for (std::size_t j = 0; j < S.size(); ++j) {
      const double g = 2.0 * (y_hat[t] - y[t]) * x[j];
      h[S[j]] += g;
      tally[1] += g * g;
    }
  }
}

}  // namespace keyhole::peers
