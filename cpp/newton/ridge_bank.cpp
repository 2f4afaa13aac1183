#include "newton/ridge_bank.hpp"

#include <vector>

#include "newton/newton.hpp"

namespace keyhole::newton {

void ridge_bank_step(const RidgeBank& bank, std::span<const linalg::Index> which, linalg::ConstMatrixView X, double y,
                     std::span<double> y_hat) {
  const linalg::Index k = bank.b.cols;
  std::vector<double> v(static_cast<std::size_t>(k));
  for (std::size_t j = 0; j < which.size(); ++j) {
    linalg::check_index(which[j], bank.b.rows);
    const linalg::MatrixView A_inv(bank.A_inv + which[j] * k * k, k, k);
    const auto b = bank.b.row(which[j]);
    const auto x = X.row(static_cast<linalg::Index>(j));
    for (linalg::Index a = 0; a < k; ++a) {
      v[a] = 0.0;
      for (linalg::Index c = 0; c < k; ++c) v[a] += A_inv(a, c) * x[c];
    }
    const double xv = quadratic_form(A_inv, v, x);
    double vb = 0.0;
    for (linalg::Index a = 0; a < k; ++a) vb += v[a] * b[a];
    y_hat[j] = vb / (1.0 + xv);
    for (linalg::Index a = 0; a < k; ++a) {
      b[a] += y * x[a];
      for (linalg::Index c = 0; c < k; ++c) A_inv(a, c) -= v[a] * v[c] / (1.0 + xv);
    }
  }
}

}  // namespace keyhole::newton
