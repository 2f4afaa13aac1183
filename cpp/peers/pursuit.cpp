#include "peers/pursuit.hpp"

#include <algorithm>

#include "linalg/cholesky.hpp"

namespace keyhole::peers {

namespace {
// On the diagonal of the chosen attributes' correlations; the least residual variance of a candidate.
constexpr double kJitter = 1e-3;
constexpr double kLeastVariance = 0.05;
}  // namespace

std::vector<double> prior_slopes(linalg::ConstMatrixView sums, std::span<const double> prior,
                                 std::span<const double> variance) {
  const auto m = static_cast<Index>(prior.size());
  const double n = sums(m, m);
  linalg::SquareMatrix A(m);
  std::vector<double> b(prior.size());
  for (Index i = 0; i < m; ++i) {
    b[i] = sums(i, m + 1) - sums(i, m) * sums(m, m + 1) / n + 2.0 * variance[i] * prior[i];
    for (Index j = 0; j < m; ++j) A.view()(i, j) = sums(i, j) - sums(i, m) * sums(m, j) / n;
    A.view()(i, i) += 2.0 * variance[i] + 1e-300;
  }
  return linalg::solve_spd(A.view(), b);
}

std::vector<Index> matching_pursuit(linalg::ConstMatrixView R, std::span<const double> c, Index k, double stop) {
  const auto d = static_cast<Index>(c.size());
  std::vector<Index> S;
  while (static_cast<Index>(S.size()) < k) {
    const auto m = static_cast<Index>(S.size());
    linalg::SquareMatrix inside(m);
    std::vector<double> c_S(S.size()), near(S.size());
    for (Index i = 0; i < m; ++i) {
      c_S[i] = c[S[i]];
      for (Index e = 0; e < m; ++e) inside.view()(i, e) = R(S[i], S[e]) + (i == e ? kJitter : 0.0);
    }
    const std::vector<double> u = linalg::solve_spd(inside.view(), c_S);
    Index best = -1;
    double most = stop;
    for (Index j = 0; j < d; ++j) {
      if (std::ranges::find(S, j) != S.end()) continue;
      for (Index i = 0; i < m; ++i) near[i] = R(j, S[i]);
      const std::vector<double> v = linalg::solve_spd(inside.view(), near);
      double left = c[j];
      double variance = 1.0;
      for (Index i = 0; i < m; ++i) {
        left -= near[i] * u[i];
        variance -= near[i] * v[i];
      }
      const double gain = left * left / std::max(variance, kLeastVariance);
      if (gain > most) {
        best = j;
        most = gain;
      }
    }
    if (best < 0) break;
    S.push_back(best);
  }
  return S;
}

}  // namespace keyhole::peers
