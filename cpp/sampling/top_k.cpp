#include "sampling/top_k.hpp"

#include <cmath>

namespace keyhole::sampling {

namespace {

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
  for (Index r = 0; r < k; ++r) {  // the largest of what is left; the earlier one where two are equal
    Index best = r;
    for (Index c = r + 1; c < n; ++c) {
      if (std::abs(w[places[c]]) > std::abs(w[places[best]])) best = c;
    }
    const Index chosen = places[best];
    for (Index c = best; c > r; --c) places[c] = places[c - 1];  // the others keep their order of preference
    places[r] = chosen;
  }
}

}  // namespace keyhole::sampling
