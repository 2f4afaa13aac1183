// Small numerical helpers that the parts of thrifty share.
#pragma once

#include <algorithm>
#include <cmath>

#include "thrifty/records.hpp"

namespace keyhole::thrifty {

// The power of two next to |x|; a difference below 1e-90 is not resolved.
inline double power_of_two(double x) {
  int e = 0;
  std::frexp(std::max(std::abs(x), 1e-90), &e);
  return std::ldexp(1.0, e);
}

// (x - ref) / unit; 0 while only one value was seen. What is larger than 1e60 then is no measurement.
inline double scaled(double x, double ref, double unit) {
  return unit > 0.0 ? std::clamp((x - ref) / unit, -1e60, 1e60) : 0.0;
}

// Logarithm of Student's t density with 4 degrees of freedom and squared scale s2, up to a constant.
inline double log_t(double error, double s2) { return -2.5 * std::log1p(error * error / (4.0 * s2)); }

// The variance of a label about its prediction: the fit's, or that of the last rows where these are noisier.
inline double noise(const Now& now) { return std::max(now.s2, now.recent_error2); }

// Log-likelihood of an error of a fit with residual variance s2, less that of a looser fit or of the label's mean.
inline double fit_against_mean(const Now& now, double error, double from_mean, double s2) {
  const double own = log_t(error, s2) - 0.5 * std::log(s2);
  const double wide = log_t(error, 4.0 * s2) - 0.5 * std::log(4.0 * s2);
  return own - std::max(wide, log_t(from_mean, now.y_var) - 0.5 * std::log(now.y_var));
}

// out = A^-1 for a positive definite m x m matrix, by Gauss-Jordan on A scaled to a unit diagonal. A column without
// variance has zeros in the inverse.
void invert(const double* A, Index lda, Index m, double* out, Index ldo, std::vector<double>& joined);

// w' A^-1 w for the q x q matrix A.
double quadratic(const double* A, const double* w, Index q, std::vector<double>& inverse, std::vector<double>& joined);

// ln 0F1(; b; x) for x >= 0: with b = q/2 and x = mu^2 z^2 / 4 the mean of exp(mu z'd) over directions d of R^q.
double log_0f1(double b, double x);

// Put item among the first n, best first, behind its equals; the worst falls out when all is full. The new n.
Index insert_best(double* values, Index* items, Index n, Index size, double value, Index item);

}  // namespace keyhole::thrifty
