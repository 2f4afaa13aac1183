// The k largest |w_i|, with ties broken so that a tie never looks like a discovery.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::sampling {

using linalg::Index;

// places[0], ..., places[k-1] = the k indices of largest |w|, the largest first. Ties, to 1e-9 of the
// larger one, go to those with `inside` (the present support), then to those earlier in `permutation`. `places` has length d; the rest of it is scratch.
void top_k(std::span<const double> w, Index k, std::span<const bool> inside, std::span<const Index> permutation,
           std::span<Index> places);

}  // namespace keyhole::sampling
