// Products with a few bought values, in which a NaN takes no part.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::sampling {

using linalg::Index;

// Sum of w[B_i] x_i over the x_i that are known.
double dot_observed(std::span<const double> w, std::span<const Index> B, std::span<const double> x);

// Sum of w_a x_i over the places a where S_a = B_i, of the x_i that are known; S is ascending, w lives on S.
double dot_on_support(std::span<const double> w, std::span<const Index> S, std::span<const Index> B,
                      std::span<const double> x);

}  // namespace keyhole::sampling
