#include "thrifty/drift_detector.hpp"

namespace keyhole::thrifty {

namespace {

// Rows that a recalibration needs, that draw its slope; rows of a past that can be judged; rows that make a burst of
// noise; share of the noise below which little is explained; nats more for changed weights; share of rows that a
// support has stayed.
constexpr double fewest = 20.0, drawn = 10.0, past_rows = 200.0, burst = 10.0, little = 0.1, more = 2.0, part = 0.05;

double slope_of(double n, double f, double y, double ff, double fy, double prior, double slope, double least) {
  const double spread = ff / n - (f / n) * (f / n);
  return spread > least ? (n * (fy / n - f * y / (n * n)) / spread + prior * slope) / (n + prior) : slope;
}

}  // namespace

void DriftDetector::reset(Now& now) {
  now.cusum = now.cusum_recalibrated = now.cusum_weights = 0.0;
  now.recent_n = now.recent_f = now.recent_y = now.recent_ff = now.recent_fy = now.recent_loss = 0.0;
  now.past_n = now.past_f = now.past_y = now.past_ff = now.past_fy = now.past_loss = 0.0;
}

void DriftDetector::remember(Now& now, double f, double y, double error2, double loss) const {
  double keep = 1.0 - 1.0 / K.drift_memory;
  now.recent_n = keep * now.recent_n + 1.0;
  now.recent_f = keep * now.recent_f + f;
  now.recent_y = keep * now.recent_y + y;
  now.recent_ff = keep * now.recent_ff + f * f;
  now.recent_fy = keep * now.recent_fy + f * y;
  now.recent_loss = keep * now.recent_loss + loss;
  keep = 1.0 - 1.0 / std::max(50.0, now.n / now.row_weight / 2.0);
  now.past_n = keep * now.past_n + 1.0;
  now.past_f = keep * now.past_f + f;
  now.past_y = keep * now.past_y + y;
  now.past_ff = keep * now.past_ff + f * f;
  now.past_fy = keep * now.past_fy + f * y;
  now.past_loss = keep * now.past_loss + loss;
  now.recent_error2 += (error2 - now.recent_error2) / burst;
}

Drift DriftDetector::update(Now& now, double explained, double slope, double f, double y, double y_hat,
                            double bent) const {
  Drift found{1.0, slope, slope};
  const double n = now.recent_n, s2 = std::sqrt(now.s2 * noise(now)), rows = now.n / now.row_weight;
  double error2 = (y - y_hat) * (y - y_hat);
  if (n > fewest && rows > past_rows && s2 > 0.0) {
    const double least = 1e-12 * now.y_var;
    const double after = slope_of(n, now.recent_f, now.recent_y, now.recent_ff, now.recent_fy, drawn, slope, least);
    const double recent = now.recent_y / n + after * (f - now.recent_f / n);
    const double past = slope_of(now.past_n, now.past_f, now.past_y, now.past_ff, now.past_fy, K.drift_young, slope,
                                 least);
    const double fair = y_hat + std::max(0.0, past - slope) * (f - now.past_f / now.past_n);
    const bool unexplained = explained < little * now.s2;  // then more noise is a change, too
    const double recent2 = unexplained ? noise(now) : s2, fit2 = unexplained ? now.s2 : s2;
    const double gain = log_t(y - recent, recent2) - 0.5 * std::log(recent2 / fit2);
    const double by_fit = log_t(y - y_hat, fit2);
    now.cusum = std::max(0.0, now.cusum + gain - by_fit);
    now.cusum_recalibrated =
        std::max(0.0, now.cusum_recalibrated + gain - std::max(by_fit, log_t(y - fair, fit2)));
    const double straight = std::max(log_t(y - y_hat, noise(now)), log_t(y - fair, noise(now)));
    now.cusum_weights = std::max(0.0, now.cusum_weights + log_t(y - bent, noise(now)) - straight);
    error2 = std::min(error2, std::min((y - recent) * (y - recent), (y - bent) * (y - bent)));
    const bool young = now.past_n <= K.drift_young, stayed = now.past_n > std::max(K.drift_stayed, part * rows);
    if (now.cusum > threshold(now)) {
      const bool changed = now.cusum_recalibrated > 0.5 * now.cusum && !young;
      const bool moves = now.cusum_recalibrated > 0.2 * now.cusum && stayed;  // else the fit was too timid all along
      found.forget = changed ? K.forget : moves ? K.forget_slowly : 1.0;
      found.slope_after = after;
      now.cusum = now.cusum_recalibrated = now.cusum_weights = 0.0;
    } else if (now.cusum_weights > threshold(now) + more && !young) {
      const bool worse = now.recent_loss / now.recent_n > now.past_loss / now.past_n + K.drift_worse;
      found.forget = !stayed ? 1.0 : worse ? K.forget : K.forget_slowly;
      now.cusum = now.cusum_recalibrated = now.cusum_weights = 0.0;
    }
  }
  remember(now, f, y, error2, -log_t(y - y_hat, std::max(now.s2, 1e-300)));
  return found;
}

}  // namespace keyhole::thrifty
