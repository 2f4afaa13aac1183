// Outlier clip (adaptive winsorising): an outlier is kept, clipped, or treated as missing, whichever has the higher
// predictive likelihood, decided attribute by attribute.
//
// A value further than six standard deviations from the mean of its attribute is an outlier, and is clipped to there
// until the attribute, as a member, has shown what such values are worth:
//
//   genuine <- genuine + log t(y - y_hat with the value as it is) - log t(y - y_hat with the value clipped)
//
// Where this is positive a value counts as it is, up to a limit: eight times the farthest that a label confirmed. A
// label that speaks against a value lowers the limit below it, and from then on the mean stands for what is beyond.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

struct Moments { double mean, variance; };

inline Moments moments(const Attribute& me) {
  if (me.raw_n <= 0.0) return {0.0, 0.0};
  const double mean = me.raw_x / me.raw_n;
  return {mean, std::max(me.raw_xx / me.raw_n - mean * mean, 0.0)};
}

struct OutlierClip {
  const Constants& K;

  // The value as it is used.
  double clip(const Attribute& me, double z) const;
  // Whether a value, as it is used, is an outlier that counts as it is: it may lead to a label unlike any before.
  bool trusted(const Attribute& me, double z) const;
  // Count a value into mean, variance and the farthest deviation: no further out than one before it was.
  void observe(Attribute& me, double z, double weight) const;
  // Learn from a label what an outlier of a member was worth. `error`: y - y_hat; `weight`: the member's.
  void learn(Attribute& me, double z, double weight, double error, double s2) const;

 private:
  bool ordinary(const Attribute& me, const Moments& of, double z) const;
  double reach(const Attribute& me, const Moments& of) const;
  double believed(const Attribute& me) const { return me.genuine > 0.0 ? me.limit : 0.0; }
};

}  // namespace keyhole::thrifty
