// Label guard: a label that is absurdly far from its prediction is clipped before anything is learnt from it.
//
// The tolerance is `outlier_sd` standard deviations of the label, or more: it doubles where it is exceeded and halves
// in two hundred rows, so a rare label that comes again is believed.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

struct LabelGuard {
  const Constants& constants;

  // Returns how far from its prediction a label may be.
  double reach(const Scalars& scalars) const {
    if (scalars.n_labels >= least_labels_for_sd && scalars.y_var > 1e-300) {
      return std::max(constants.outlier_sd * std::sqrt(scalars.y_var), scalars.label_tolerance);
    }
    const double range = scalars.y_high - scalars.y_low;
    const bool has_range = scalars.n_labels >= least_labels_for_range && range > 0.0;
    return has_range ? std::max(ranges_while_few * range, scalars.label_tolerance) : 1e300;
  }

  // Returns the error that is learnt from. Where the tolerance is larger than `outlier_sd` standard deviations, the
  // label is clipped to the geometric mean of both.
  double clip(Scalars& scalars, double off, double reach) const {
    scalars.label_tolerance = std::abs(off) > reach ? 2.0 * reach : scalars.label_tolerance * decay;
    double most = reach;
    if (scalars.n_labels >= least_labels_for_sd) {
      most = std::sqrt(reach * std::min(reach, constants.outlier_sd * std::sqrt(scalars.y_var)));
    }
    return std::clamp(off, -most, most);
  }

 private:
  // Labels that make a standard deviation, and labels that make a range.
  static constexpr Index least_labels_for_sd = 30, least_labels_for_range = 8;
  // Ranges that a label may be off while there is only a range.
  static constexpr double ranges_while_few = 3.0;
  // Ratio per row: 0.5^(1/200).
  static constexpr double decay = 0.99654026282786778;
};

}  // namespace keyhole::thrifty
