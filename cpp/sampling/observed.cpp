#include "sampling/observed.hpp"

#include <algorithm>
#include <cmath>

namespace keyhole::sampling {

double dot_observed(std::span<const double> w, std::span<const Index> B, std::span<const double> x) {
  double total = 0.0;
  for (std::size_t i = 0; i < B.size(); ++i) {
    if (!std::isnan(x[i])) total += w[B[i]] * x[i];
  }
  return total;
}

double dot_on_support(std::span<const double> w, std::span<const Index> S, std::span<const Index> B,
                      std::span<const double> x) {
  double total = 0.0;
  for (std::size_t i = 0; i < B.size(); ++i) {
    const auto a = static_cast<std::size_t>(std::ranges::lower_bound(S, B[i]) - S.begin());
    if (a < S.size() && S[a] == B[i] && !std::isnan(x[i])) total += w[a] * x[i];
  }
  return total;
}

}  // namespace keyhole::sampling
