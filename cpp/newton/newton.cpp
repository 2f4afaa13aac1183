#include "newton/newton.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/multiversion.hpp"

namespace keyhole::newton {

namespace {
// Rounding error of a sum of k products, relative to the largest of them.
constexpr double kRounding = 1e-13;
}  // namespace

double quadratic_form(linalg::ConstMatrixView A_inv, std::span<double> v, std::span<const double> x) {
  double total = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    total += v[i] * x[i];
    size += A_inv(i, i) * x[i] * x[i];
  }
  if (total > kRounding * size) return total;
  std::ranges::fill(v, 0.0);
  return 0.0;
}

KEYHOLE_MULTIVERSION
double newton_round(const NewtonState& state, std::span<const double> x, double y, double rho, std::span<double> v) {
  const auto& [w, A_inv, tally] = state;
  const std::size_t k = w.size();
  std::ranges::fill(v, 0.0);
  for (std::size_t j = 0; j < k; ++j) {  // v = A^-1 x by rows of the symmetric A^-1: this order vectorises
    const auto row = A_inv.row(j);
    for (std::size_t i = 0; i < k; ++i) v[i] += row[i] * x[j];
  }
  double u = 0.0;
  double xx = 0.0;
  for (std::size_t i = 0; i < k; ++i) {
    u += w[i] * x[i];
    xx += x[i] * x[i];
  }
  const double xv = quadratic_form(A_inv, v, x);
  if (std::isnan(y)) return clip_to_unit(u);
  // Deviation: two-sided, skipped where |u| <= 1 (so x = 0 divides nothing), on the current x (E7 to E10).
  if (std::abs(u) > 1.0) {
    const double excess = u > 0.0 ? u - 1.0 : u + 1.0;
    for (std::size_t i = 0; i < k; ++i) w[i] -= xv > 0.0 ? excess / xv * v[i] : excess / xx * x[i];
    u = u > 0.0 ? 1.0 : -1.0;
  }
  const double residual = u - y;
  tally[0] += residual * residual;
  tally[1] += 1.0;
  if (residual == 0.0) return u;
  if (rho <= 0.0) rho = tally[1] / (2.0 * tally[0]);
  const double c = 2.0 * residual;
  const double shrink = rho * c * c / (1.0 + rho * c * c * xv);
  const double step = c / (1.0 + rho * c * c * xv);
  for (std::size_t i = 0; i < k; ++i) {
    w[i] -= step * v[i];
    const auto row = A_inv.row(i);
    for (std::size_t j = 0; j < k; ++j) row[j] -= shrink * (v[i] * v[j]);  // the same product at (i, j) and (j, i)
  }
  return u;
}

void newton_epoch(const NewtonState& state, linalg::ConstMatrixView X, std::span<const double> y, double rho,
                  std::span<double> y_hat) {
  std::vector<double> v(state.w.size());
  for (std::size_t t = 0; t < y.size(); ++t) y_hat[t] = newton_round(state, X.row(t), y[t], rho, v);
}

void gradient_epoch(std::span<double> w, std::span<double> sum_squares, linalg::ConstMatrixView X,
                    std::span<const double> y, std::span<double> y_hat) {
  const std::size_t k = w.size();
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto x = X.row(t);
    double u = 0.0;
    double xx = 0.0;
    for (std::size_t i = 0; i < k; ++i) {
      u += w[i] * x[i];
      xx += x[i] * x[i];
    }
    y_hat[t] = clip_to_unit(u);
    if (std::isnan(y[t])) continue;
    const double c = 2.0 * (y_hat[t] - y[t]);
    sum_squares[0] += c * c * xx;
    const double off = std::abs(u) > 1.0 ? (u - y_hat[t]) / xx : 0.0;
    for (std::size_t i = 0; i < k; ++i) w[i] -= off * x[i] + c / std::sqrt(1.0 + sum_squares[0]) * x[i];
  }
}

}  // namespace keyhole::newton
