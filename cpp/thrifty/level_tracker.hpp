// Level tracker: the level of the label is followed where it moves, and stays 0 where it does not.
//
// Four experts e track the level side by side; the first keeps its level, the others follow the labels with a gain:
//
//   weight_e <- weight_e t(off - level_e),   level_e <- level_e + gain_e (off - level_e)      off: y - y_hat without the level
//
// In every row a small part of each weight goes to the other experts (fixed share). The level is the weighted mean of
// the experts, which is added to predictions; `learnt_level` is subtracted from the labels that are learnt.
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

  // Returns the level that is subtracted from labels that are learnt. Where attributes are correlated from row to row,
  // what an expert follows may be the signal of attributes that are not in the support yet, and would be lost. rho:
  // their correlation with the row before; `own`: their correlation with the average over past rows that an expert of
  // this gain takes. That share of the expert is replaced by the next slower one.
  double learnt_level(double rho) const {
    double level = 0.0, slower = 0.0;
    for (const LevelExpert& expert : experts) {
      const double a = 1.0 - expert.gain, own = rho * std::sqrt((1.0 - a * a) / (1.0 - a * a * rho * rho));
      slower = (1.0 - own) * expert.level + own * slower;
      level += expert.weight * slower;
    }
    return level;
  }

  // Learn from the error of a label; each expert moves by `reach` times its gain at most. rows: rows so far.
  void update(double off, double reach, double s2, double rows);

  // Returns by how much the level moved, once it has been elsewhere for a hundred rows; else 0. Each move is reported
  // once.
  double moved(Scalars& scalars) const;
};

}  // namespace keyhole::thrifty
