#include "sampling/top_k.hpp"

#include <algorithm>
#include <cmath>

namespace keyhole::sampling {

namespace {

// Weights that differ by less than this share are equal: the rest is rounding, which differs between solvers.
constexpr double kEqual = 1e-9;

// What can be among the k largest, and how many there are: every non-zero, and zeros to fill up; of each kind those
// inside first, then by the permutation.
Index by_preference(std::span<const double> w, Index k, std::span<const bool> inside,
                    std::span<const Index> permutation, std::span<Index> places) {
  Index n = 0;
  auto most = static_cast<Index>(w.size());
  for (const bool zeros : {false, true}) {
    for (const bool member : {true, false}) {
      for (const Index i : permutation) {
        if (n < most && inside[i] == member && (w[i] == 0.0) == zeros) places[n++] = i;
      }
    }
    if (n + k < most) most = n + k;
  }
  return n;
}

}  // namespace

void top_k(std::span<const double> w, Index k, std::span<const bool> inside, std::span<const Index> permutation,
           std::span<Index> places) {
  const Index n = by_preference(w, k, inside, permutation, places);
  for (Index r = 0; r < k; ++r) {  // the largest of what is left; the earliest of those that equal it
    double largest = 0.0;
    for (Index c = r; c < n; ++c) largest = std::max(largest, std::abs(w[places[c]]));
    Index best = r;
    while (std::abs(w[places[best]]) < (1.0 - kEqual) * largest) ++best;
    const Index chosen = places[best];
    for (Index c = best; c > r; --c) places[c] = places[c - 1];  // the others keep their order of preference
    places[r] = chosen;
  }
}

}  // namespace keyhole::sampling
