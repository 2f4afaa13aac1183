// Interval calibrator: quantiles of the errors, tracked as labels come.
//
//   z = ln(|y - y_hat| / spread) - c         spread: the standard deviation that the fit expects of this error
//   c <- c + a ([z > 0] - 1/2),   q_p <- q_p + a ([z > q_p] - (1 - p))          for every level p of a grid
//   interval at level p: y_hat -+ spread exp(c + q_p)
//
// The share of misses over n rows is 1 - p + (change of q_p) / (a n), whatever the rows are. A lower level's q bounds a
// higher level's from below, so that intervals are nested.
#pragma once

#include <span>

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

inline constexpr double interval_levels[] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55,
                                             0.6,  0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999};

struct IntervalCalibrator {
  const Constants& constants;
  std::span<double> log_q;
  double& centre;

  // Returns the highest level of which an interval is finite: n labels say nothing beyond n / (n + 1).
  double highest(Index n_labels) const {
    const double n = static_cast<double>(n_labels);
    return n >= constants.least_rows ? n / (n + 1.0) : 0.0;
  }
  // Learns from |y - y_hat|; returns the lowest level whose interval held the label.
  double update(double error, double spread, Index n_labels);
  // Returns half the width of the interval, in spreads; infinite before there are labels for it.
  double reach(double level, Index n_labels) const;
};

}  // namespace keyhole::thrifty

