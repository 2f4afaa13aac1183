#include "linalg/cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace keyhole::linalg {

std::vector<double> solve_spd(ConstMatrixView A, std::span<const double> c) {
  const auto m = static_cast<Index>(c.size());
  SquareMatrix factor(m);
  const MatrixView L = factor.view();
  std::vector<double> x(c.begin(), c.end());
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double s = A(i, j);
      for (Index e = 0; e < j; ++e) s -= L(i, e) * L(j, e);
      L(i, j) = i > j ? s / L(j, j) : std::sqrt(std::max(s, 1e-12 * std::max(A(i, i), 1e-300)));
    }
  }
  for (Index i = 0; i < m; ++i) {
    for (Index e = 0; e < i; ++e) x[i] -= L(i, e) * x[e];
    x[i] /= L(i, i);
  }
  for (Index i = m - 1; i >= 0; --i) {
    for (Index e = i + 1; e < m; ++e) x[i] -= L(e, i) * x[e];
    x[i] /= L(i, i);
  }
  return x;
}

}  // namespace keyhole::linalg
