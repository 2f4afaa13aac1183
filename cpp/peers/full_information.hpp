// Learners that buy every attribute: whole blocks of rounds in place, one after another. A NaN label is predicted and
// teaches nothing.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::peers {

using linalg::Index;

// Vovk-Azoury-Warmuth:  y_hat = <(A + x x')^-1 b, x>,  A += x x',  b += y x.
void vaw_epoch(linalg::MatrixView A_inv, std::span<double> b, linalg::ConstMatrixView X, std::span<const double> y,
               std::span<double> y_hat);

// What the regularised dual averaging of `rda_epoch` knows. `tally` is (rounds learnt from, mean of |x|^2, max of |y|),
// `errors` the sums of 1, e^2 and y^2. `group` numbers the group of each attribute, `group_size` has their sizes.
struct DualAverage {
  std::span<double> w;
  std::span<double> g_bar;
  std::span<double> tally;
  std::span<double> errors;
  std::span<const Index> group;
  std::span<const Index> group_size;
  double gamma;
  double lam;
  double rho;
  bool practical;
};
void rda_epoch(const DualAverage& state, linalg::ConstMatrixView X, std::span<const double> y, std::span<double> y_hat);

// The sums of least squares: XX = sum x x', Xy = sum y x, tally = (rounds, sum of squared errors).
struct NormalEquations {
  linalg::MatrixView XX;
  std::span<double> Xy;
  std::span<double> tally;
};

// v <- argmin v'Gv/2 - c'v + lam |v|_1 by cyclic coordinate descent from v, in place. Stops when no entry's gradient is
// off its optimality condition by more than `tolerance`. An attribute with G_ii = 0 keeps its entry: it was never seen.
void lasso(linalg::ConstMatrixView G, std::span<const double> c, double lam, std::span<double> v, double tolerance,
           Index sweeps);

// Online linearised LASSO; G0 is the Gram matrix of the first n0 rows. scale < 0: the width is -scale times the root mean
// square of the errors. Returns the rounds learnt from.
Index olin_lasso_epoch(std::span<double> theta, const NormalEquations& sums, linalg::MatrixView G0, Index n,
                       linalg::ConstMatrixView X, std::span<const double> y, Index n0, double scale,
                       std::span<double> y_hat);

// Folded-concave least squares: contraction at lam, then tightening by the slope of the penalty (MCP or SCAD).
void fit_ilamm(linalg::ConstMatrixView G, std::span<const double> b, double lam, bool mcp, double tolerance,
               std::span<double> beta);

// I-LAMM, refitted when the rows learnt from are a power of two; `scale` as in olin_lasso_epoch, `share` of max |b| is
// the least width. Returns the rounds learnt from.
Index ilamm_epoch(std::span<double> beta, const NormalEquations& sums, Index n, linalg::ConstMatrixView X,
                  std::span<const double> y, double scale, double share, bool mcp, std::span<double> y_hat);

}  // namespace keyhole::peers
