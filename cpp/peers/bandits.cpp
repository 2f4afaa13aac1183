#include "peers/bandits.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace keyhole::peers {

void tsallis_law(std::span<const double> L, double eta, std::span<double> p) {
  double z = *std::ranges::min_element(L) - 2.0 / eta;
  for (int iteration = 0; iteration < 100; ++iteration) {
    double total = 0.0;
    double slope = 0.0;
    for (std::size_t j = 0; j < L.size(); ++j) {
      const double u = eta * (L[j] - z);
      p[j] = 4.0 / (u * u);
      total += p[j];
      slope += 2.0 * eta * p[j] / u;
    }
    if (total - 1.0 <= 1e-13 * static_cast<double>(L.size())) break;
    z -= (total - 1.0) / slope;
  }
  double total = 0.0;
  for (const double p_j : p) total += p_j;
  for (double& p_j : p) p_j /= total;
}

void log_barrier_step(std::span<const double> p, std::span<const double> loss, std::span<const double> eta,
                      std::span<double> next) {
  double low = *std::ranges::min_element(loss);
  double high = *std::ranges::max_element(loss);
  for (std::size_t j = 0; j < p.size(); ++j) high = std::min(high, loss[j] + 1.0 / (eta[j] * p[j]));
  for (int iteration = 0; iteration < 200; ++iteration) {
    const double z = 0.5 * (low + high);
    double total = 0.0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      next[j] = 1.0 / (1.0 / p[j] + eta[j] * (loss[j] - z));
      total += next[j];
    }
    (total > 1.0 ? high : low) = z;
    if (high - low <= 1e-16 * std::max(1.0, std::abs(z)) || total == 1.0) break;
  }
}

void hedge_step(const SupportHedge& hedge, linalg::ConstMatrixView h, std::span<const double> z, double eta,
                bool adaptive, double R) {
  const Index k = hedge.U.cols;
  std::vector<double> half(static_cast<std::size_t>(k));  // half of the gradient
  for (Index n = 0; n < hedge.U.rows; ++n) {
    const auto U = hedge.U.row(n);
    const auto w = hedge.W.row(n);
    double loss = 0.0;
    double square = 0.0;
    for (Index a = 0; a < k; ++a) {
      half[a] = -z[U[a]];
      for (Index c = 0; c < k; ++c) half[a] += h(U[a], U[c]) * w[c];
      loss += w[a] * (half[a] - z[U[a]]);
      square += 4.0 * half[a] * half[a];
    }
    hedge.L[n] += loss;
    hedge.G[n] += square;
    const double step = adaptive && hedge.G[n] > 0.0 ? eta / std::sqrt(hedge.G[n]) : eta;
    double norm = 0.0;
    for (Index a = 0; a < k; ++a) {
      w[a] -= step * 2.0 * half[a];
      norm += w[a] * w[a];
    }
    if (norm > R * R) {
      const double shrink = R / std::sqrt(norm);
      for (double& w_a : w) w_a *= shrink;
    }
  }
}

}  // namespace keyhole::peers
