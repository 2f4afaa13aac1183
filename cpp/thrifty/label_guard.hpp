// Label guard: a label that is absurdly far from its prediction is clipped before anything is learnt from it.
//
// The tolerance is six standard deviations of the label, or as far as one label in two hundred was: it doubles where it
// is exceeded and halves in two hundred rows, so that what is rare but comes again is believed.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

struct LabelGuard {
  const Constants& K;

  // How far off a label may be.
  double reach(const Now& now) const {
    if (now.n_labels >= many && now.y_var > 1e-300) {
      return std::max(K.outlier_sd * std::sqrt(now.y_var), now.label_reach);
    }
    const double range = now.y_high - now.y_low;
    return now.n_labels >= some && range > 0.0 ? std::max(3.0 * range, now.label_reach) : 1e300;
  }

  // How far the label is taken to be off. Of what exceeds six deviations half, in logarithms, is learnt.
  double clip(Now& now, double off, double reach) const {
    now.label_reach = std::abs(off) > reach ? 2.0 * reach : now.label_reach * halving;
    double most = reach;
    if (now.n_labels >= many) most = std::sqrt(reach * std::min(reach, K.outlier_sd * std::sqrt(now.y_var)));
    return std::clamp(off, -most, most);
  }

 private:
  // Labels that make a standard deviation, or at least a range; 0.5^(1/200).
  static constexpr Index many = 30, some = 8;
  static constexpr double halving = 0.99654026282786778;
};

}  // namespace keyhole::thrifty
