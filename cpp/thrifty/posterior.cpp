#include "thrifty/posterior.hpp"

#include <algorithm>

namespace keyhole::thrifty {

namespace {

// Share of each slab in the prior probability of all slabs: a source that is worth a price seldom explains little.
constexpr std::array<double, 4> slab_shares = {0.08, 0.1, 0.27, 0.55};
// Nodes of the numerical integration over a standard normal, from -widest_node to widest_node.
constexpr int n_nodes = 21;
constexpr double widest_node = 4.5;
// Share of the noise that a source explains at most, so that the logarithm of the rest exists.
constexpr double most_share = 0.995;
// Posterior probability: slabs with less are left out of the integrals.
constexpr double least_weight = 1e-9;

double node(int i) { return widest_node * (2.0 * i / (n_nodes - 1.0) - 1.0); }

}  // namespace

std::array<double, 5> initial_prior(double expected, double n) {
  const double p = std::min(0.5, expected / std::max(n, 1.0));
  return {1.0 - p, p * slab_shares[0], p * slab_shares[1], p * slab_shares[2], p * slab_shares[3]};
}

Posterior posterior(std::span<const double> prior, double gain, double n, double v, Index q, double y_var) {
  Posterior out{};
  out.q = q;
  const double dim = static_cast<double>(q);
  const bool has_data = n > dim + 1.0;
  const double share = has_data ? std::clamp(gain / v, 0.0, most_share) : 0.0;
  double heaviest = out.weight[0] = std::log(prior[0]);
  for (std::size_t i = 1; i < 5; ++i) {
    const double size = slabs[i - 1] * y_var, g = n * size / ((dim + 2.0) * v), kappa = g / (1.0 + g);
    out.weight[i] = std::log(prior[i]);
    out.u[i] = size / (dim + 2.0);
    if (has_data) {
      out.mu2[i] = kappa * kappa * share * v;
      out.u[i] = kappa * v * (1.0 - kappa * share) / n;
      out.weight[i] += std::log((out.mu2[i] + dim * out.u[i]) * (dim + 2.0) / (dim * size)) -
                       0.5 * dim * std::log1p(g) - 0.5 * (n - 1.0) * std::log1p(-kappa * share);
    }
    heaviest = std::max(heaviest, out.weight[i]);
  }
  double total = 0.0;
  for (double& w : out.weight) total += w = std::exp(w - heaviest);
  for (double& w : out.weight) w /= total;
  return out;
}

double Posterior::mean() const {
  const double dim = static_cast<double>(q);
  double sum = 0.0;
  for (std::size_t i = 1; i < 5; ++i) {
    const double square = mu2[i] + dim * u[i];
    if (square > 0.0) sum += weight[i] * (square * square + 2.0 * dim * u[i] * u[i] + 4.0 * u[i] * mu2[i]) / square;
  }
  return sum;
}

namespace {

// The integral of (|theta|^2 - need)_+ factor(|theta|^2) over the posterior.
template <class Factor>
double integrate_excess(const Posterior& posterior, double need, Factor&& factor) {
  static const std::array<double, n_nodes> mass = [] {
    std::array<double, n_nodes> w{};
    double total = 0.0;
    for (int z = 0; z < n_nodes; ++z) total += w[z] = std::exp(-0.5 * node(z) * node(z));
    for (double& one : w) one /= total;
    return w;
  }();
  const auto& [weight, mu2, u, q] = posterior;
  const double dim = static_cast<double>(q);
  double sum = 0.0;
  for (std::size_t i = 1; i < 5; ++i) {
    if (weight[i] < least_weight) continue;
    const double mu = std::sqrt(mu2[i]), sd = std::sqrt(u[i]), square = mu2[i] + dim * u[i];
    for (int z = 0; z < n_nodes; ++z) {
      const double theta = mu + sd * node(z), explains = theta * theta + (dim - 1.0) * u[i];
      if (explains > need) sum += weight[i] * mass[z] * explains / square * (explains - need) * factor(explains);
    }
  }
  return sum;
}

}  // namespace

double Posterior::expected_excess(double need) const {
  return integrate_excess(*this, need, [](double) { return 1.0; });
}

double Posterior::expected_excess_nats(double need, double v) const {
  return integrate_excess(*this, need, [v](double explains) { return 0.5 * std::log1p(explains / v); });
}

}  // namespace keyhole::thrifty
