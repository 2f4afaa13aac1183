// The parts of explore-then-commit: orthogonal matching pursuit on moments, and least squares drawn to a prior.
#pragma once

#include <span>
#include <vector>

#include "linalg/matrix.hpp"

namespace keyhole::peers {

using linalg::Index;

// Least squares with intercept on the sums of (x, 1, y), drawn to the prior as if by two rows more.
std::vector<double> prior_slopes(linalg::ConstMatrixView sums, std::span<const double> prior,
                                 std::span<const double> variance);

// At most k attributes, each the one with the largest gain (residual covariance)^2 / residual variance beside those
// before, while that exceeds `stop`.
std::vector<Index> matching_pursuit(linalg::ConstMatrixView R, std::span<const double> c, Index k, double stop);

}  // namespace keyhole::peers
