#include "sampling/sampling.hpp"

#include <cmath>

namespace keyhole::sampling {

namespace {

// Weights whose sum is below this are treated as w = 0: dividing by it would only amplify rounding.
constexpr double kNothing = 1e-300;

// The index whose share of [0, 1) contains u; never one with q = 0.
Index inverse_cdf(std::span<const double> q, double u) {
  double total = 0.0;
  for (const double q_i : q) total += q_i;
  double cdf = 0.0;
  Index last = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (q[i] > 0.0) {
      cdf += q[i];
      last = static_cast<Index>(i);
      if (cdf > u * total) break;
    }
  }
  return last;
}

}  // namespace

void set_law(std::span<const double> w, std::span<double> q) {
  // Deviation: |w| and the uniform law at w = 0; line 2 of Algorithm 2 has w/|w|_1 (E4, E5).
  double total = 0.0;
  for (const double w_i : w) total += std::abs(w_i);
  for (std::size_t i = 0; i < w.size(); ++i) {
    q[i] = total > kNothing ? std::abs(w[i]) / total : 1.0 / static_cast<double>(w.size());
  }
}

void join_draws(std::span<const double> q, double u, std::span<const Index> others, std::span<Index> B) {
  // Deviation: the index that is drawn is the one inserted; Algorithm 2 slips between I_t, I_r and I_{r+1} (E6).
  B[0] = inverse_cdf(q, u);
  for (std::size_t r = 0; r < others.size(); ++r) B[r + 1] = others[r] + (others[r] >= B[0] ? 1 : 0);
}

void set_pair_probabilities(Index fixed, std::span<const double> q_B, Index n, Index m, linalg::MatrixView P) {
  // Deviation: the factor (d-k)/(k-2) on q_i + q_j is that of the main text's lemma; the appendix drops it (E1).
  const double both = static_cast<double>(m - 1) / static_cast<double>(n > 2 ? (n - 1) * (n - 2) : 1);
  const double one = 1.0 / static_cast<double>(n - 1);
  const auto drawn = static_cast<Index>(q_B.size());
  const auto rest = static_cast<double>(n - m);
  for (Index i = 0; i < drawn; ++i) {
    const double single = (rest * q_B[i] + static_cast<double>(m - 1)) * one;
    for (Index j = 0; j < fixed; ++j) {
      P(fixed + i, j) = single;
      P(j, fixed + i) = single;
    }
    for (Index j = 0; j < drawn; ++j) {
      P(fixed + i, fixed + j) = both * (static_cast<double>(m - 2) + rest * (q_B[i] + q_B[j]));
    }
    P(fixed + i, fixed + i) = single;
  }
}

}  // namespace keyhole::sampling
