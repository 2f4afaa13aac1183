// The inverse of a small matrix, by Gauss and Jordan: LAPACK's overhead is larger than the work up to some 40 columns.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::linalg {

// G_inv = G^-1 on the leading m x m blocks, with row pivoting. False where G is singular; G_inv is then undefined.
// `swaps` is scratch of length m.
bool invert(ConstMatrixView G, MatrixView G_inv, Index m, std::span<double> swaps);

}  // namespace keyhole::linalg
