// Drift detector: three cumulative sums (CUSUM) that compare each prediction with alternatives fitted to the last rows.
//
// The recalibration regresses the label on the signal f of our own fit, over the last `drift_memory` rows:
//
//   recalibrated = mean y + slope (f - mean f),     slope shrunk to the present one by ten rows
//   cusum <- max(0, cusum + log t(y - recalibrated) - log t(y - y_hat))
//
// Predictions may have been too small all along, which is misfit and no change. So `cusum_recalibrated` gives the past
// the slope that all rows of this support ask for. An alarm takes cusum > threshold, at least half of it by
// cusum_recalibrated, on a support that is `drift_young` rows old; a fifth of it is enough for slow changes, once the
// support has stayed for 3 `drift_young` rows and 5 % of all rows. `cusum_weights` compares with weights shifted as the
// last rows ask for, because single weights may change while f follows the label as before; it counts once the support
// has stayed so long.
//
// At an alarm the past is divided by `forget`, or by `forget_slowly` where weights move slowly. If a statistic exceeds
// its threshold on a young support it starts again and nothing is forgotten, because that is misfit.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

// forget: what the weight of the past is to be divided by; 1: no change.
struct Drift { double forget, slope_before, slope_after; };

struct DriftDetector {
  static constexpr double suspicious_share = 0.3;  // of the threshold
  const Constants& constants;

  // Returns the evidence that raises an alarm, in nats.
  double threshold(const Scalars& scalars) const {
    return constants.drift_threshold + std::log(scalars.sum_weight / scalars.row_weight);
  }
  // Returns whether the last rows may be a mixture of before and after a change.
  bool suspicious(const Scalars& scalars) const { return scalars.cusum > suspicious_share * threshold(scalars); }
  // Forget all sums, because the signal comes from another support.
  static void reset(Scalars& scalars);
  // Add a label y that was predicted as y_hat = slope f + constant, and as y_hat_shifted with the shifted weights;
  // returns the change that this reveals. explained: variance of the label that the fit explains.
  Drift update(Scalars& scalars, double explained, double slope, double f, double y, double y_hat,
               double y_hat_shifted) const;

 private:
  void add_to_sums(Scalars& scalars, double f, double y, double squared_error, double loss) const;
};

}  // namespace keyhole::thrifty
