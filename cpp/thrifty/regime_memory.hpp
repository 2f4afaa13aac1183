// Regime memory: a regime that returns is recognised, and its rows count again instead of being gathered anew.
//
// Every stored row belongs to a regime, which begins and ends with an alarm. At an alarm the support that ends is
// stored beside the last few before it. The stored regimes are tried one after the other, the last that ended first:
// the rows of the regime on trial get their weight back, its members are bought, and its fit is compared with the mean
// of the labels. The slope alpha starts at 0, so a trial costs little.
//
//   trial_evidence <- trial_evidence + log t(y - fit; s2) - max(log t(y - fit; 4 s2), log t(y - mean; var y))
//
// Above `decision_nats` the regime holds again, and the alarms say so. Below minus that, or undecided after 40 rows,
// its weights are divided by `forget` again and the next regime is tried; after the last, the members at the alarm are
// bought again.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

inline constexpr Index n_stored_regimes = 4;

struct RegimeMemory {
  const State& state;

  // Add the evidence of a label for the regime on trial; f: the signal of its fit.
  void update(double f, double y) const;
  // At a refit: store the regime that has ended, and start, accept or reject a trial.
  void advance() const;

 private:
  bool decided() const;
  void store_previous() const;
  void try_next(bool after_rejection) const;
  void start_trial(Index i) const;
  void reject(Index i) const;
  void accept(Index i) const;
  void restart_sums(double expected_error) const;
};

}  // namespace keyhole::thrifty
