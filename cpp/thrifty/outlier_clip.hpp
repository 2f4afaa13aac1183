// Outlier clip (adaptive winsorising): an outlier is kept, clipped, or treated as missing, whichever has the higher
// predictive likelihood, decided attribute by attribute.
//
// A value further than `outlier_sd` standard deviations from the mean of its attribute is an outlier. It is clipped to
// that distance until the attribute, as a member, has shown what such values are worth:
//
//   outlier_evidence <- outlier_evidence + log t(y - y_hat with the value as it is) - log t(y - y_hat with the value clipped)
//
// While this is positive a value counts as it is, up to outlier_limit: `outlier_trust` times the farthest deviation
// that a label confirmed. A label that speaks against a value lowers the limit below it, and from then on values beyond
// the limit are replaced by the mean.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

struct Moments { double mean, variance; };

// Returns mean and variance of all values of an attribute, outliers clipped.
inline Moments moments(const Attribute& attribute) {
  if (attribute.raw_n <= 0.0) return {0.0, 0.0};
  const double mean = attribute.raw_x / attribute.raw_n;
  return {mean, std::max(attribute.raw_xx / attribute.raw_n - mean * mean, 0.0)};
}

struct OutlierClip {
  const Constants& constants;

  // Returns the value as it is used.
  double clip(const Attribute& attribute, double z) const;
  // Returns whether a value, as it is used, is an outlier that counts as it is: it may lead to a label unlike any
  // before.
  bool trusted(const Attribute& attribute, double z) const;
  // Add a value to the mean, the variance and the largest deviation, which it may double at most.
  void observe(Attribute& attribute, double z, double weight) const;
  // Learn from a label what an outlier of a member was worth. error: y - y_hat; weight: the member's.
  void learn(Attribute& attribute, double z, double weight, double error, double s2) const;

 private:
  bool ordinary(const Attribute& attribute, const Moments& moments, double z) const;
  // The deviation beyond which a value is an outlier; 0 while there are too few values.
  double reach(const Attribute& attribute, const Moments& moments) const;
  // The deviation up to which outliers count as they are.
  double confirmed_reach(const Attribute& attribute) const {
    return attribute.outlier_evidence > 0.0 ? attribute.outlier_limit : 0.0;
  }
};

}  // namespace keyhole::thrifty
