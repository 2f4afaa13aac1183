// Small numerical helpers that the parts of thrifty share.
#pragma once

#include <algorithm>
#include <cmath>

#include "thrifty/records.hpp"

namespace keyhole::thrifty {

// Returns the power of two above |x|; differences below 1e-90 are not resolved.
inline double power_of_two(double x) {
  int e = 0;
  std::frexp(std::max(std::abs(x), 1e-90), &e);
  return std::ldexp(1.0, e);
}

// Returns (x - ref) / unit; 0 while only one value was seen. Anything beyond 1e60 is no measurement and is clipped.
inline double scaled(double x, double ref, double unit) {
  return unit > 0.0 ? std::clamp((x - ref) / unit, -1e60, 1e60) : 0.0;
}

// Returns the logarithm of Student's t density with 4 degrees of freedom and squared scale s2, up to a constant. It is
// finite for the smallest s2, too: sums of it are stored.
inline double log_t(double error, double s2) {
  return -2.5 * std::log1p(std::min(error * error / (4.0 * s2), 1e300));
}

// Returns the variance of a label around its prediction: s2, or that of the last rows if these are noisier.
inline double noise(const Scalars& scalars) { return std::max(scalars.s2, scalars.recent_mse); }

// Returns the weight of an error to whose variance s2 the columns that were not observed add `hidden`.
inline double hidden_noise_weight(double s2, double hidden) { return s2 > 0.0 ? s2 / (s2 + hidden) : 1.0; }

// Returns the log likelihood of an error under a fit with residual variance s2, less the larger of that under 4 s2 and
// that under the mean of the label.
inline double fit_against_mean(const Scalars& scalars, double error, double from_mean, double s2) {
  const double own = log_t(error, s2) - 0.5 * std::log(s2);
  const double wide = log_t(error, 4.0 * s2) - 0.5 * std::log(4.0 * s2);
  return own - std::max(wide, log_t(from_mean, scalars.y_var) - 0.5 * std::log(scalars.y_var));
}

// Writes out = A^-1 for a positive definite m x m matrix, by Gauss-Jordan on A scaled to a unit diagonal. A column that
// has no variance, or none beside the columns before it, has zeros in the inverse. So the result is finite for every
// symmetric matrix: covariances that were estimated pair by pair need not be positive definite.
void invert(const double* A, Index lda, Index m, double* out, Index ldo, std::vector<double>& workspace);

// Returns w' A^-1 w for the q x q matrix A.
double quadratic(const double* A, const double* w, Index q, std::vector<double>& inverse,
                 std::vector<double>& workspace);

// Returns ln 0F1(; b; x) for x >= 0. With b = q/2 and x = mu^2 z^2 / 4 it is the log of the mean of exp(mu z'd) over
// the directions d of R^q.
double log_0f1(double b, double x);

// Inserts an item into a list of n items, best first and behind its equals; where the list is full (`size`) the worst
// is dropped. Returns the new n.
Index insert_best(double* values, Index* items, Index n, Index size, double value, Index item);

}  // namespace keyhole::thrifty

