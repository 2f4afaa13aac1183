#include "linalg/inverse.hpp"

#include <cmath>
#include <utility>

#include "linalg/multiversion.hpp"

namespace keyhole::linalg {

KEYHOLE_MULTIVERSION
bool invert(ConstMatrixView G, MatrixView G_inv, Index m, std::span<double> swaps) {
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) G_inv(i, j) = G(i, j);
  }
  for (Index c = 0; c < m; ++c) {
    // Row c takes the place of the row with the largest entry of column c: a change of columns of the inverse, undone
    // at the end.
    Index p = c;
    for (Index i = c + 1; i < m; ++i) {
      if (std::abs(G_inv(i, c)) > std::abs(G_inv(p, c))) p = i;
    }
    swaps[c] = static_cast<double>(p);
    const double corner = G_inv(p, c);
    if (corner == 0.0) return false;
    for (Index j = 0; j < m; ++j) {
      const double held = G_inv(c, j);
      G_inv(c, j) = G_inv(p, j) / corner;
      if (p != c) G_inv(p, j) = held;
    }
    G_inv(c, c) = 1.0 / corner;
    const auto pivot_row = G_inv.row(c);
    for (Index i = 0; i < m; ++i) {
      if (i == c) continue;
      const auto row = G_inv.row(i);
      const double factor = row[c];
      row[c] = 0.0;
      for (Index j = 0; j < m; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  for (Index c = m - 1; c >= 0; --c) {
    const auto p = static_cast<Index>(swaps[c]);
    if (p == c) continue;
    for (Index i = 0; i < m; ++i) std::swap(G_inv(i, c), G_inv(i, p));
  }
  return true;
}

}  // namespace keyhole::linalg
