#include "thrifty/outlier_clip.hpp"

namespace keyhole::thrifty {

namespace {

// Values that make a standard deviation.
constexpr Index least_values_for_sd = 10;
// Ratio: with fewer values than that (and at least `least_rows`), an outlier is this many times as far.
constexpr double wider_while_few = 4.0;
// Nats: the evidence for or against clipping is never larger.
constexpr double most_evidence = 20.0;
// Ratio: one value raises the largest deviation by at most this.
constexpr double most_growth = 2.0;
// Ratios, of squares: a value that was clipped to the reach lies between these, and is an outlier but no trusted one.
constexpr double least_outlier_ratio = 0.999, least_trusted_ratio = 1.01;
// Ratio: the limit falls to just below a deviation that a label speaks against.
constexpr double below_rejected = 0.999;

double within(double z, double mean, double reach) { return std::clamp(z, mean - reach, mean + reach); }

}  // namespace

bool OutlierClip::ordinary(const Attribute& attribute, const Moments& moments, double z) const {
  if (attribute.n_observed < static_cast<Index>(constants.least_rows)) return true;
  const double off = z - moments.mean;
  return off * off < least_outlier_ratio * constants.outlier_sd * constants.outlier_sd * moments.variance;
}

double OutlierClip::reach(const Attribute& attribute, const Moments& moments) const {
  if (attribute.n_observed < static_cast<Index>(constants.least_rows)) return 0.0;
  const double reach = constants.outlier_sd * std::sqrt(moments.variance);
  return attribute.n_observed >= least_values_for_sd ? reach : wider_while_few * reach;
}

double OutlierClip::clip(const Attribute& attribute, double z) const {
  const Moments all = moments(attribute);
  if (ordinary(attribute, all, z)) return z;
  const double deviation = std::abs(z - all.mean), most = reach(attribute, all);
  if (most <= 0.0 || deviation <= std::max(most, confirmed_reach(attribute))) return z;
  const bool rejected = attribute.n_rejected_outliers > 0 && deviation > attribute.outlier_limit;
  return rejected ? all.mean : within(z, all.mean, most);
}

bool OutlierClip::trusted(const Attribute& attribute, double z) const {
  const Moments all = moments(attribute);
  const double off = z - all.mean;
  const double most = least_trusted_ratio * constants.outlier_sd * constants.outlier_sd * all.variance;
  return attribute.outlier_evidence > 0.0 && off * off > most;
}

void OutlierClip::observe(Attribute& attribute, double z, double weight) const {
  const Moments all = moments(attribute);
  const double most = reach(attribute, all), deviation = std::abs(z - all.mean);
  double counted = z, largest = deviation;
  if (most > 0.0) {
    const double confirmed = confirmed_reach(attribute), known = std::max(most, attribute.largest_deviation);
    if (!ordinary(attribute, all, z)) counted = within(z, all.mean, std::max(known, confirmed));
    if (deviation > std::max(most, confirmed)) largest = std::min(deviation, most_growth * known);
  }
  attribute.largest_deviation = std::max(attribute.largest_deviation, largest);
  attribute.n_observed += 1;
  attribute.raw_n += weight;
  attribute.raw_x += weight * counted;
  attribute.raw_xx += weight * counted * counted;
}

void OutlierClip::learn(Attribute& attribute, double z, double weight, double error, double s2) const {
  const Moments all = moments(attribute);
  if (ordinary(attribute, all, z)) return;
  const double most = reach(attribute, all), deviation = std::abs(z - all.mean);
  if (most <= 0.0 || deviation <= most) return;
  const double used = clip(attribute, z);
  const auto log_likelihood = [&](double value) { return log_t(error + weight * (used - value), s2); };
  const double as_it_is = log_likelihood(z), clipped = log_likelihood(within(z, all.mean, most));
  const double evidence = attribute.outlier_evidence + as_it_is - clipped;
  attribute.outlier_evidence = std::clamp(evidence, -most_evidence, most_evidence);
  double& limit = attribute.outlier_limit;
  const double against_mean = as_it_is - log_likelihood(all.mean);
  if (against_mean > constants.decision_nats) {
    const bool none_rejected = attribute.n_rejected_outliers == 0;
    const double step = constants.outlier_step * std::min(deviation, std::max(most, limit));
    limit = std::max(limit, none_rejected ? constants.outlier_trust * deviation : step);
  } else if (against_mean < -constants.decision_nats) {
    attribute.n_rejected_outliers += 1;
    const double lower = std::min(below_rejected * deviation, limit / constants.outlier_step);
    limit = std::min(limit, std::max(most, lower));
  }
}

}  // namespace keyhole::thrifty
