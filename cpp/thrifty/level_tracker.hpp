// Level tracker: the level of the label is followed where it moves, and stays 0 where it does not.
//
// Four experts e track the level side by side; the first keeps its level, the others follow the labels with a gain:
//
//   weight_e <- weight_e t(off - level_e),   level_e <- level_e + gain_e (off - level_e)      off: y - y_hat without the level
//
// In every row a small part of each weight goes to the other experts (fixed share). The level is the weighted mean of
// the experts; it is added to predictions and subtracted from the labels that are learnt.
#pragma once

#include <span>

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

inline constexpr double level_gains[] = {0.0, 0.01, 0.08, 0.5};

struct LevelTracker {
  const Constants& constants;
  std::span<LevelExpert> experts;

  // Returns the weighted mean of the experts.
  double level() const {
    double level = 0.0;
    for (const LevelExpert& expert : experts) level += expert.weight * expert.level;
    return level;
  }

  // Learn from the error of a label; each expert moves by `reach` times its gain at most. rows: rows so far.
  void update(double off, double reach, double s2, double rows);

  // Returns by how much the level moved, once it has been elsewhere for a hundred rows; else 0. Each move is reported
  // once.
  double moved(Scalars& scalars) const;
};

}  // namespace keyhole::thrifty
