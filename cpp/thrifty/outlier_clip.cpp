#include "thrifty/outlier_clip.hpp"

namespace keyhole::thrifty {

namespace {

// Values that make a standard deviation; with fewer, from K.few on, an outlier is four times as far. The most that is
// believed of either side, in nats. How far beyond the farthest so far a value counts for mean and variance.
constexpr Index many = 10;
constexpr double wider = 4.0, most_nats = 20.0, twice = 2.0;

double within(double z, double mean, double reach) { return std::clamp(z, mean - reach, mean + reach); }

}  // namespace

bool OutlierClip::ordinary(const Attribute& me, const Moments& of, double z) const {
  const double off = z - of.mean;
  return me.observed < static_cast<Index>(K.few) || off * off < 0.999 * K.outlier_sd * K.outlier_sd * of.variance;
}

double OutlierClip::reach(const Attribute& me, const Moments& of) const {
  const double six = me.observed >= static_cast<Index>(K.few) ? K.outlier_sd * std::sqrt(of.variance) : 0.0;
  return me.observed >= many ? six : wider * six;
}

double OutlierClip::clip(const Attribute& me, double z) const {
  const Moments of = moments(me);
  if (ordinary(me, of, z)) return z;
  const double far = std::abs(z - of.mean), most = reach(me, of);
  if (most <= 0.0 || far <= std::max(most, believed(me))) return z;
  return me.absurd > 0 && far > me.limit ? of.mean : within(z, of.mean, most);
}

bool OutlierClip::trusted(const Attribute& me, double z) const {
  const Moments of = moments(me);
  const double off = z - of.mean;
  return me.genuine > 0.0 && off * off > 1.01 * K.outlier_sd * K.outlier_sd * of.variance;
}

void OutlierClip::observe(Attribute& me, double z, double weight) const {
  const Moments of = moments(me);
  double counted = z;
  const double most = reach(me, of), far = std::abs(z - of.mean);
  double farthest = far;
  if (most > 0.0) {
    if (!ordinary(me, of, z)) counted = within(z, of.mean, std::max(std::max(most, me.far), believed(me)));
    if (far > std::max(most, believed(me))) farthest = std::min(far, twice * std::max(most, me.far));
  }
  me.far = std::max(me.far, farthest);
  me.observed += 1;
  me.raw_n += weight;
  me.raw_x += weight * counted;
  me.raw_xx += weight * counted * counted;
}

void OutlierClip::learn(Attribute& me, double z, double weight, double error, double s2) const {
  const Moments of = moments(me);
  if (ordinary(me, of, z)) return;
  const double most = reach(me, of), far = std::abs(z - of.mean);
  if (most <= 0.0 || far <= most) return;
  const double used = clip(me, z);
  const double real = log_t(error + weight * (used - z), s2);
  const double clipped = log_t(error + weight * (used - within(z, of.mean, most)), s2);
  me.genuine = std::clamp(me.genuine + real - clipped, -most_nats, most_nats);
  const double confirmed = real - log_t(error + weight * (used - of.mean), s2);
  if (confirmed > K.outlier_nats) {
    const double to = me.absurd == 0 ? K.outlier_trust * far : K.outlier_step * std::min(far, std::max(most, me.limit));
    me.limit = std::max(me.limit, to);
  } else if (confirmed < -K.outlier_nats) {
    me.absurd += 1;
    me.limit = std::min(me.limit, std::max(most, std::min(0.999 * far, me.limit / K.outlier_step)));
  }
}

}  // namespace keyhole::thrifty
