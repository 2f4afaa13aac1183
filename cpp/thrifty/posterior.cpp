#include "thrifty/posterior.hpp"

#include <algorithm>

namespace keyhole::thrifty {

namespace {

// How the weight of all slabs is spread: what is worth a price is seldom small.
constexpr std::array<double, 4> spread = {0.08, 0.1, 0.27, 0.55};
// Nodes of the normal distribution, and their weights.
constexpr int nodes = 21;
constexpr double widest = 4.5;

double node(int i) { return widest * (2.0 * i / (nodes - 1.0) - 1.0); }

}  // namespace

std::array<double, 5> hoped(double expected, double n) {
  const double p = std::min(0.5, expected / std::max(n, 1.0));
  return {1.0 - p, p * spread[0], p * spread[1], p * spread[2], p * spread[3]};
}

Posterior posterior(std::span<const double> prior, double gain, double n, double v, Index q, double y_var) {
  Posterior out{};
  out.q = q;
  const double dim = static_cast<double>(q);
  const bool told = n > dim + 1.0;
  const double share = told ? std::clamp(gain / v, 0.0, 0.995) : 0.0;
  double heaviest = out.weight[0] = std::log(prior[0]);
  for (std::size_t i = 1; i < 5; ++i) {
    const double size = slabs[i - 1] * y_var, g = n * size / ((dim + 2.0) * v), kappa = g / (1.0 + g);
    out.weight[i] = std::log(prior[i]);
    out.u[i] = size / (dim + 2.0);
    if (told) {
      out.mu2[i] = kappa * kappa * share * v;
      out.u[i] = kappa * v * (1.0 - kappa * share) / n;
      out.weight[i] += std::log((out.mu2[i] + dim * out.u[i]) * (dim + 2.0) / (dim * size)) -
                       0.5 * dim * std::log1p(g) - 0.5 * std::max(n - 1.0, dim) * std::log1p(-kappa * share);
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

template <class Per>
double over(const Posterior& of, double need, Per&& per) {
  static const std::array<double, nodes> mass = [] {
    std::array<double, nodes> w{};
    double total = 0.0;
    for (int z = 0; z < nodes; ++z) total += w[z] = std::exp(-0.5 * node(z) * node(z));
    for (double& one : w) one /= total;
    return w;
  }();
  const auto& [weight, mu2, u, q] = of;
  const double dim = static_cast<double>(q);
  double sum = 0.0;
  for (std::size_t i = 1; i < 5; ++i) {
    if (weight[i] < 1e-9) continue;
    const double mu = std::sqrt(mu2[i]), sd = std::sqrt(u[i]), square = mu2[i] + dim * u[i];
    for (int z = 0; z < nodes; ++z) {
      const double theta = mu + sd * node(z), explains = theta * theta + (dim - 1.0) * u[i];
      if (explains > need) sum += weight[i] * mass[z] * explains / square * (explains - need) * per(explains);
    }
  }
  return sum;
}

}  // namespace

double Posterior::beyond(double need) const {
  return over(*this, need, [](double) { return 1.0; });
}

double Posterior::found(double need, double v) const {
  return over(*this, need, [v](double explains) { return 0.5 * std::log1p(explains / v); });
}

}  // namespace keyhole::thrifty
