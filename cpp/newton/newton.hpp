// The exploiters: online Newton step on a fixed support, and online gradient descent.
//
//   u = <w, x>;   w <- w - tau(u) / (x' A^-1 x) A^-1 x,   tau(u) = sign(u) max(|u| - 1, 0)    onto |<w, x>| <= 1
//   y_hat = <w, x>,   g = 2 (y_hat - y) x
//   A <- A + rho g g',   w <- w - A^-1 g
//
// One product v = A^-1 x serves the projection, the rank-one update of A^-1 and the step: O(k^2) a round.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::newton {

// u, or the nearer end of [-1, 1].
inline double clip_to_unit(double u) { return u > 1.0 ? 1.0 : u < -1.0 ? -1.0 : u; }

// The state of the online Newton step. `tally` is (sum of squared residuals, count).
struct NewtonState {
  std::span<double> w;
  linalg::MatrixView A_inv;
  std::span<double> tally;
};

// x' A^-1 x for v = A^-1 x. Where it is lost in the rounding of v, returns 0 and sets v = 0: x shows nothing new then.
//
// A^-1 is what is left of a subtraction. Along an x of size 1e9 that was seen before, what is left is below the rounding
// errors and may even be negative; dividing by it would destroy everything learnt.
double quadratic_form(linalg::ConstMatrixView A_inv, std::span<double> v, std::span<const double> x);

// One round in place; returns the prediction. `v` is scratch of length k. rho <= 0 means self-tuned: 1/(2 r2) with r2 the
// running mean of the squared residuals. A NaN label closes a round in which nothing is learnt, not even the projection.
double newton_round(const NewtonState& state, std::span<const double> x, double y, double rho, std::span<double> v);

// The rounds of an epoch, one after another; their predictions go into y_hat.
void newton_epoch(const NewtonState& state, linalg::ConstMatrixView X, std::span<const double> y, double rho,
                  std::span<double> y_hat);

// Online gradient descent: w <- w - g / sqrt(1 + sum |g|^2) after the Euclidean projection on |<w, x>| <= 1, O(k) a
// round. `sum_squares` holds the sum of the squared gradients. A NaN label is predicted and leaves w as it was.
void gradient_epoch(std::span<double> w, std::span<double> sum_squares, linalg::ConstMatrixView X,
                    std::span<const double> y, std::span<double> y_hat);

}  // namespace keyhole::newton
