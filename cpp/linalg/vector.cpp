#include "linalg/vector.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/multiversion.hpp"

namespace keyhole::linalg {

KEYHOLE_MULTIVERSION
void add_scaled(double a, std::span<const double> x, std::span<double> y) {
  for (std::size_t t = 0; t < y.size(); ++t) y[t] += a * x[t];
}

KEYHOLE_MULTIVERSION
void add_four_scaled(const double (&a)[4], const double* const (&x)[4], std::span<double> y) {
  const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  const double *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
  for (std::size_t t = 0; t < y.size(); ++t) y[t] += a0 * x0[t] + a1 * x1[t] + a2 * x2[t] + a3 * x3[t];
}

// A maximum does not depend on the order, so that four running maxima give the same number as one, sooner.
KEYHOLE_MULTIVERSION
double largest_abs(std::span<const double> v, double start) {
  double top[4] = {start, start, start, start};
  std::size_t t = 0;
  for (; t + 4 <= v.size(); t += 4) {
    for (int lane = 0; lane < 4; ++lane) {
      const double size = std::abs(v[t + lane]);
      top[lane] = size > top[lane] ? size : top[lane];
    }
  }
  for (; t < v.size(); ++t) {
    const double size = std::abs(v[t]);
    top[0] = size > top[0] ? size : top[0];
  }
  return std::max(std::max(top[0], top[1]), std::max(top[2], top[3]));
}

KEYHOLE_MULTIVERSION
double largest_excess(std::span<const double> z, std::span<const double> c) {
  double top[4] = {0.0, 0.0, 0.0, 0.0};
  std::size_t t = 0;
  for (; t + 4 <= z.size(); t += 4) {
    for (int lane = 0; lane < 4; ++lane) {
      const double over = std::abs(z[t + lane]) - c[t + lane];
      top[lane] = over > top[lane] ? over : top[lane];
    }
  }
  for (; t < z.size(); ++t) {
    const double over = std::abs(z[t]) - c[t];
    top[0] = over > top[0] ? over : top[0];
  }
  return std::max(std::max(top[0], top[1]), std::max(top[2], top[3]));
}

void times(ConstMatrixView M, Index m, std::span<const double> v, std::span<double> out) {
  for (Index i = 0; i < m; ++i) {
    const auto row = M.row(i);
    double total = 0.0;
    for (Index j = 0; j < m; ++j) total += row[j] * v[j];
    out[i] = total;
  }
}

KEYHOLE_MULTIVERSION
void times_transposed(ConstMatrixView M, Index m, std::span<const double> v, std::span<double> out) {
  for (Index j = 0; j < m; ++j) out[j] = 0.0;
  for (Index i = 0; i < m; ++i) {
    const auto row = M.row(i);
    const double a = v[i];
    for (Index j = 0; j < m; ++j) out[j] += row[j] * a;
  }
}

KEYHOLE_MULTIVERSION
void subtract_outer(MatrixView M, Index m, std::span<const double> u, std::span<const double> v, double p) {
  for (Index i = 0; i < m; ++i) {
    const auto row = M.row(i);
    const double a = u[i] / p;
    for (Index j = 0; j < m; ++j) row[j] -= a * v[j];
  }
}

}  // namespace keyhole::linalg
