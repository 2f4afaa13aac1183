// What a source explains, by the posterior of a spike and four slabs.
//
//   theta = 0                                             with probability prior[0]       the spike
//   theta ~ |theta|^2 N(0, c var(y) / (q + 2)), normed    with probability prior[i]       c = slabs[i - 1], q attributes
//
// in units of unit variance: E |theta|^2 = c var(y), however many attributes. The factor |theta|^2 (a moment prior) says
// that what matters is not next to nothing, so that few rows that show nothing tell more. n rows with noise v say that the
// source explains `gain`. With a g-prior,
//
//   g = n c var(y) / ((q + 2) v),   kappa = g / (1 + g),   mu^2 = kappa^2 gain,   u = kappa v (1 - kappa gain / v) / n
//   log Bayes factor = -q/2 log(1 + g) - (n - 1)/2 log(1 - kappa gain / v) + log((mu^2 + q u) (q + 2) / (q c var(y)))
//
// The probabilities are learnt from all sources together (empirical Bayes).
#pragma once

#include <array>
#include <span>

#include "thrifty/records.hpp"

namespace keyhole::thrifty {

inline constexpr std::array<double, 4> slabs = {0.01, 0.03, 0.1, 0.35};

struct Posterior {
  std::array<double, 5> weight, mu2, u;  // of the spike and the slabs; |mean|^2 and variance of each direction
  Index q;

  // E |theta|^2.
  double mean() const;
  // E (|theta|^2 - need)_+.
  double beyond(double need) const;
  // The same, each size times the nats that one more row with noise v says for it.
  double found(double need, double v) const;
};

// The prior before any source was judged: about `expected` of n sources matter, half of few.
std::array<double, 5> hoped(double expected, double n);

// n = 0: nothing is known yet.
Posterior posterior(std::span<const double> prior, double gain, double n, double v, Index q, double y_var);

}  // namespace keyhole::thrifty
