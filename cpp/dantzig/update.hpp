// A round enters: H[B, B] += h, b[B] += v, and the basis matrix with its inverse follows.
#pragma once

#include <span>

#include "dantzig/basis.hpp"
#include "linalg/matrix.hpp"

namespace keyhole::dantzig {

// What is wrong with a round (nothing is changed then); and that the inverse has to be computed anew.
inline constexpr Index kBadIndex = -1;
inline constexpr Index kBadValue = -2;
inline constexpr Index kAsymmetric = -3;
inline constexpr Index kStaleInverse = -4;

// One round's part of the sums: h (k x k) and v (k) on the distinct indices B.
struct Round {
  std::span<const Index> B;
  linalg::ConstMatrixView h;
  std::span<const double> v;
};

// Adds the round to H (unless it is empty), b and the basis matrix. Returns how many columns of the inverse changed, one
// of the faults above, or kStaleInverse where these are more than `most` or more than a third. An h that is not symmetric
// is only taken where `asymmetric` allows it.
Index add_round(linalg::MatrixView H, std::span<double> b, const Round& round, const Basis& basis, Work& work, Index m,
                Index most, bool asymmetric);

}  // namespace keyhole::dantzig
