// Drift detector: what the last rows say against what the whole past says of the same support.
//
// Beside each prediction stands its recalibration on the last 40 rows, the label regressed on our own signal f:
//
//   recent = mean y + slope (f - mean f),       slope drawn to the present one by ten rows
//   cusum <- max(0, cusum + log t(y - recent) - log t(y - y_hat))
//
// A prediction may be too timid all along, which is misfit and no change. So a second statistic gives the past the slope
// that all rows of this support ask for; an alarm takes cusum > 10 + ln(rows), at least half of it by that statistic,
// on a support that is 100 rows old. A third statistic compares with weights bent by the last 40 rows, for changes of
// single weights under which f follows the label as before, on a support that has stayed. Where the last rows are predicted
// clearly worse than those before, the past is divided by a thousand, else by twenty: weights that move slowly. A statistic
// that exceeds its threshold on a young support starts again, and nothing is forgotten: that is misfit.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

// `forget`: what the past is to be divided by; 1: no change.
struct Drift { double forget, slope_before, slope_after; };

struct DriftDetector {
  const Constants& K;

  double threshold(const Now& now) const { return K.drift_threshold + std::log(now.n / now.row_weight); }
  // Whether the rows may be a mixture of before and after a change.
  bool suspicious(const Now& now) const { return now.cusum > 0.3 * threshold(now); }
  // Start again: the signal is another one.
  static void reset(Now& now);
  // Add label y, predicted as y_hat = slope f + constant; `bent`: the prediction with weights bent by the last rows.
  Drift update(Now& now, double explained, double slope, double f, double y, double y_hat, double bent) const;

 private:
  void remember(Now& now, double f, double y, double error2, double loss) const;
};

}  // namespace keyhole::thrifty
