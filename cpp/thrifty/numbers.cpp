#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

namespace {

// Share of its variance that a column must have beside those before it.
constexpr double least_pivot = 1e-9;

}  // namespace

void invert(const double* A, Index lda, Index m, double* out, Index ldo, std::vector<double>& workspace) {
  if (m == 1) {
    out[0] = A[0] > 1e-300 ? 1.0 / (A[0] * (1.0 + 1e-9)) : 0.0;
    return;
  }
  workspace.resize(static_cast<std::size_t>((m + 1) * 2 * m));
  double* T = workspace.data();
  double* s = T + m * 2 * m;
  for (Index i = 0; i < m; ++i) {
    const double a = A[i * lda + i];
    s[i] = a > 1e-300 ? 1.0 / std::sqrt(a) : 0.0;
  }
  for (Index i = 0; i < m; ++i) {
    double* row = T + i * 2 * m;
    for (Index j = 0; j < m; ++j) {
      row[j] = A[i * lda + j] * s[i] * s[j];
      row[m + j] = 0.0;
    }
    row[i] = s[i] > 0.0 ? row[i] + 1e-9 : 1.0;  // keeps exact duplicates apart
    row[m + i] = 1.0;
  }
  for (Index i = 0; i < m; ++i) {
    double* row = T + i * 2 * m;
    if (!(row[i] > least_pivot)) {  // it has nothing of its own beside the rows before it
      std::fill(row, row + 2 * m, 0.0);
      continue;
    }
    const double pivot = 1.0 / row[i];
    for (Index e = i; e < m + i + 1; ++e) row[e] *= pivot;
    for (Index j = 0; j < m; ++j) {
      double* other = T + j * 2 * m;
      const double f = j != i ? other[i] : 0.0;
      if (f != 0.0) {
        for (Index e = i; e < m + i + 1; ++e) other[e] -= f * row[e];
      }
    }
  }
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) out[i * ldo + j] = T[i * 2 * m + m + j] * s[i] * s[j];
  }
}

double quadratic(const double* A, const double* w, Index q, std::vector<double>& inverse,
                 std::vector<double>& workspace) {
  if (q == 1) return A[0] > 1e-300 ? w[0] * w[0] / A[0] : 0.0;
  inverse.resize(static_cast<std::size_t>(q * q));
  invert(A, q, q, inverse.data(), q, workspace);
  double sum = 0.0;
  for (Index i = 0; i < q; ++i) {
    for (Index j = 0; j < q; ++j) sum += w[i] * inverse[i * q + j] * w[j];
  }
  return std::max(sum, 0.0);
}

double log_0f1(double b, double x) {
  if (b == 0.5) {  // cosh(2 sqrt(x))
    const double y = 2.0 * std::sqrt(x);
    return y - std::log(2.0) + std::log1p(std::exp(-2.0 * y));
  }
  double log_scale = 0.0, term = 1.0, sum = 1.0;
  for (int n = 1; n < 10000; ++n) {
    term *= x / (n * (b + n - 1.0));
    sum += term;
    if (term < 1e-12 * sum) break;
    if (sum > 1e200) {
      term *= 1e-200;
      sum *= 1e-200;
      log_scale += 200.0 * std::log(10.0);
    }
  }
  return log_scale + std::log(sum);
}

Index insert_best(double* values, Index* items, Index n, Index size, double value, Index item) {
  if (size == 0 || (n == size && value <= values[n - 1])) return n;
  Index i = n < size ? n : n - 1;
  n = std::min(n + 1, size);
  while (i > 0 && values[i - 1] < value) {
    values[i] = values[i - 1];
    items[i] = items[i - 1];
    --i;
  }
  values[i] = value;
  items[i] = item;
  return n;
}

}  // namespace keyhole::thrifty
