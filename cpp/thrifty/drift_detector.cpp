#include "thrifty/drift_detector.hpp"

namespace keyhole::thrifty {

namespace {

// Rows that a recalibration needs.
constexpr double least_recent_rows = 20.0;
// Rows: what the present slope counts for in the recalibration.
constexpr double slope_prior_rows = 10.0;
// Rows: a shorter past is not judged.
constexpr double least_past_rows = 200.0;
// Rows: memory of the recent squared error, which is the noise while there is a burst of it.
constexpr double noise_memory = 10.0;
// Rows: memory of the sums over this support, at least; at most half of all rows.
constexpr double least_baseline_memory = 50.0;
// Share of s2 below which so little is explained that more noise counts as a change, too.
constexpr double unexplained_share = 0.1;
// Nats: cusum_weights must exceed the threshold by this.
constexpr double more_for_weights = 2.0;
// Share of all rows that a support must have stayed for.
constexpr double stayed_share = 0.05;
// Ratio of ages: and it is so many times as old as a support that may be judged at all.
constexpr double stayed_ratio = 3.0;
// Shares of cusum that cusum_recalibrated must reach: for a change, and for weights that move slowly.
constexpr double changed_share = 0.5, moving_share = 0.2;

// Discounted sums of the regression of the label on the signal: views of fields of the state.
struct RegressionSums {
  double &n, &f, &y, &ff, &fy, &loss;

  void clear() { n = f = y = ff = fy = loss = 0.0; }
  void add(double keep, double new_f, double new_y, double new_loss) {
    n = keep * n + 1.0;
    f = keep * f + new_f;
    y = keep * y + new_y;
    ff = keep * ff + new_f * new_f;
    fy = keep * fy + new_f * new_y;
    loss = keep * loss + new_loss;
  }
  // The slope of y on f, shrunk to `prior` by so many rows; `prior` where f hardly varies.
  double slope(double prior_rows, double prior, double least_variance) const {
    const double variance = ff / n - (f / n) * (f / n);
    if (!(variance > least_variance)) return prior;
    return (n * (fy / n - f * y / (n * n)) / variance + prior_rows * prior) / (n + prior_rows);
  }
};

RegressionSums recent_sums(Scalars& s) {
  return {s.recent_n, s.recent_f, s.recent_y, s.recent_ff, s.recent_fy, s.recent_loss};
}

RegressionSums baseline_sums(Scalars& s) {
  return {s.baseline_n, s.baseline_f, s.baseline_y, s.baseline_ff, s.baseline_fy, s.baseline_loss};
}

void restart(Scalars& scalars) { scalars.cusum = scalars.cusum_recalibrated = scalars.cusum_weights = 0.0; }

}  // namespace

void DriftDetector::reset(Scalars& scalars) {
  restart(scalars);
  recent_sums(scalars).clear();
  baseline_sums(scalars).clear();
}

void DriftDetector::add_to_sums(Scalars& scalars, double f, double y, double squared_error, double loss) const {
  const double half = scalars.sum_weight / scalars.row_weight / 2.0;
  recent_sums(scalars).add(1.0 - 1.0 / constants.drift_memory, f, y, loss);
  baseline_sums(scalars).add(1.0 - 1.0 / std::max(least_baseline_memory, half), f, y, loss);
  scalars.recent_mse += (squared_error - scalars.recent_mse) / noise_memory;
}

Drift DriftDetector::update(Scalars& scalars, double explained, double slope, double f, double y, double y_hat,
                            double y_hat_shifted) const {
  Drift found{1.0, slope, slope};
  const RegressionSums recent = recent_sums(scalars), baseline = baseline_sums(scalars);
  const double s2 = std::sqrt(scalars.s2 * noise(scalars)), rows = scalars.sum_weight / scalars.row_weight;
  double squared_error = (y - y_hat) * (y - y_hat);
  if (recent.n > least_recent_rows && rows > least_past_rows && s2 > 0.0) {
    const double least_variance = 1e-12 * scalars.y_var;
    const double recent_slope = recent.slope(slope_prior_rows, slope, least_variance);
    const double recalibrated = recent.y / recent.n + recent_slope * (f - recent.f / recent.n);
    // What the past would have predicted with the slope that all its rows ask for.
    const double fair_slope = baseline.slope(constants.drift_young, slope, least_variance);
    const double fair = y_hat + std::max(0.0, fair_slope - slope) * (f - baseline.f / baseline.n);

    const bool unexplained = explained < unexplained_share * scalars.s2;
    const double recent_s2 = unexplained ? noise(scalars) : s2, fit_s2 = unexplained ? scalars.s2 : s2;
    const double by_recent = log_t(y - recalibrated, recent_s2) - 0.5 * std::log(recent_s2 / fit_s2);
    const double by_fit = log_t(y - y_hat, fit_s2), by_fair = std::max(by_fit, log_t(y - fair, fit_s2));
    scalars.cusum = std::max(0.0, scalars.cusum + by_recent - by_fit);
    scalars.cusum_recalibrated = std::max(0.0, scalars.cusum_recalibrated + by_recent - by_fair);
    const double unshifted = std::max(log_t(y - y_hat, noise(scalars)), log_t(y - fair, noise(scalars)));
    const double shifted = log_t(y - y_hat_shifted, noise(scalars));
    scalars.cusum_weights = std::max(0.0, scalars.cusum_weights + shifted - unshifted);
    // An error that an alternative avoids is no noise.
    squared_error = std::min(squared_error, std::min((y - recalibrated) * (y - recalibrated),
                                                     (y - y_hat_shifted) * (y - y_hat_shifted)));

    const bool young = baseline.n <= constants.drift_young;
    const bool stayed = baseline.n > std::max(stayed_ratio * constants.drift_young, stayed_share * rows);
    if (scalars.cusum > threshold(scalars)) {
      const bool changed = scalars.cusum_recalibrated > changed_share * scalars.cusum && !young;
      // Where neither holds, predictions were too small all along.
      const bool moving = scalars.cusum_recalibrated > moving_share * scalars.cusum && stayed;
      found.forget = changed ? constants.forget : moving ? constants.forget_slowly : 1.0;
      found.slope_after = recent_slope;
      restart(scalars);
    } else if (scalars.cusum_weights > threshold(scalars) + more_for_weights && !young) {
      const bool worse = recent.loss / recent.n > baseline.loss / baseline.n + constants.drift_worse;
      found.forget = !stayed ? 1.0 : worse ? constants.forget : constants.forget_slowly;
      restart(scalars);
    }
  }
  add_to_sums(scalars, f, y, squared_error, -log_t(y - y_hat, std::max(scalars.s2, 1e-300)));
  return found;
}

}  // namespace keyhole::thrifty
