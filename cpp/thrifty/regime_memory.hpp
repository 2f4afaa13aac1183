// Regime memory: a regime that comes back is recognised, and its rows count again instead of being gathered anew.
//
// Every stored row belongs to a regime, which begins and ends with an alarm. At an alarm the support that ends is kept
// beside the last few before it. These are tried one after the other, the last that ended first: the rows of a regime get
// their weight back, its members are bought, and its fit stands beside the labels; the slope alpha starts at 0, so that
// trying costs little.
//
//   evidence <- evidence + log t(y - fit; s2) - max(log t(y - fit; 4 s2), log t(y - mean; var y))
//
// Above 3 nats it holds again, and that is in the alarms. Below -3, or undecided after 40 rows, its rows weigh a
// thousandth of the present again and the next one is tried; after the last, the members at the alarm go on.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

inline constexpr Index kept_regimes = 4;

struct RegimeMemory {
  const State& state;

  // Add what a label says for the regime that is on trial.
  void update(double f, double y) const;
  // At a refit: keep what ended, start a trial, decide it.
  void advance() const;

 private:
  bool decided() const;
  void keep() const;
  void try_next(bool failed) const;
  void reject(Index i) const;
  void accept(Index i) const;
  void start(double s2) const;
};

}  // namespace keyhole::thrifty
