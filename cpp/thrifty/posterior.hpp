// Posterior: what a source explains, |theta|^2, under a spike and four slabs.
//
//   theta = 0                                             with probability prior[0]       the spike
//   theta ~ |theta|^2 N(0, c var(y) / (q + 2)), normed    with probability prior[i]       c = slabs[i - 1], q attributes
//
// in units of unit variance, so that E |theta|^2 = c var(y) for any number of attributes. The factor |theta|^2 (a
// moment prior) excludes effects next to zero, so a few rows that show nothing count for more. n rows with noise v say
// that the source explains `gain`. With a g-prior,
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

  // Returns E |theta|^2.
  double mean() const;
  // Returns E (|theta|^2 - need)_+.
  double expected_excess(double need) const;
  // Returns the same expectation with each size multiplied by the nats that one more row with noise v says for it.
  double expected_excess_nats(double need, double v) const;
};

// Returns the prior before any source was judged: `expected` of n sources matter, but at most half of them.
std::array<double, 5> initial_prior(double expected, double n);

// Returns the posterior after n rows with noise v in which a source of q attributes explains `gain`; n = 0: the prior.
Posterior posterior(std::span<const double> prior, double gain, double n, double v, Index q, double y_var);

}  // namespace keyhole::thrifty

