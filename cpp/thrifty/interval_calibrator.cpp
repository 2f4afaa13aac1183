#include "thrifty/interval_calibrator.hpp"

namespace keyhole::thrifty {

namespace {

// Log units: c and q stay within this, so that labels which are predicted exactly for long do no lasting harm.
constexpr double most_log_quantile = 20.0;

}  // namespace

double IntervalCalibrator::update(double error, double spread, Index n_labels) {
  if (error <= 0.0 && spread <= 0.0) return 0.0;
  const double c = centre;
  const double z = error <= 0.0 ? -infinity : spread <= 0.0 ? infinity : std::log(error) - std::log(spread) - c;
  const double step = std::max(constants.interval_step, 0.5 / std::sqrt(static_cast<double>(n_labels)));
  double level = 1.0, below = 0.0, q = -infinity;
  for (std::size_t i = 0; i < log_q.size(); ++i) {
    const double before = q, p = interval_levels[i];
    q = std::max(q, log_q[i]);
    if (z <= q && level == 1.0) {
      level = i == 0 ? p * std::exp(z - q) : below + (p - below) * (z - before) / (q - before);
    }
    below = p;
    log_q[i] = std::clamp(log_q[i] + step * ((z > q ? 1.0 : 0.0) - (1.0 - p)), -most_log_quantile, most_log_quantile);
  }
  centre = std::clamp(c + step * ((z > 0.0 ? 1.0 : 0.0) - 0.5), -most_log_quantile, most_log_quantile);
  return std::min(level, std::nextafter(highest(n_labels), 1.0));
}

double IntervalCalibrator::reach(double level, Index n_labels) const {
  if (level > highest(n_labels)) return infinity;
  double q = -infinity, before = -infinity, below = 0.0;
  for (std::size_t i = 0; i < log_q.size(); ++i) {
    const double p = interval_levels[i];
    before = q;
    q = std::max(q, log_q[i]);
    if (level <= p) {
      const double at = i == 0 ? q + std::log(level / p) : before + (q - before) * (level - below) / (p - below);
      return std::exp(at + centre);
    }
    below = p;
  }
  return std::exp(q + centre);
}

}  // namespace keyhole::thrifty
