// Level tracker: the label's level is followed where it moves, and let alone where it does not.
//
// Four accounts of the level c run side by side; one keeps what it has, the others follow the labels with a gain:
//
//   belief_e <- belief_e t(off - c_e),   c_e <- c_e + gain_e (off - c_e)         off: y - y_hat without the level
//
// and now and then another account is right from here on (fixed share). The level is their mean, sum belief_e c_e; it is
// added to predictions and taken from the labels that are learnt. While the first is believed it stays 0.
#pragma once

#include <span>

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

inline constexpr double level_gains[] = {0.0, 0.01, 0.08, 0.5};

struct LevelTracker {
  const Constants& K;
  std::span<Account> account;

  double level() const {
    double c = 0.0;
    for (const Account& one : account) c += one.belief * one.c;
    return c;
  }

  // Learn from how far a label was off; each account moves by `reach` gains at most. `rows`: rows so far.
  void update(double off, double reach, double s2, double rows);

  // Whether the level has been elsewhere for a hundred rows; it is reported once. By how much it moved.
  double moved(Now& now) const;
};

}  // namespace keyhole::thrifty
