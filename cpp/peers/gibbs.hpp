// gibbs-thompson: rows filled in, their normal equations, and a sweep over a spike-and-slab posterior.
//
// With z_B the bought values in units of their sd, the whole row is filled in by its conditional mean R_.B R_BB^-1 z_B.
// Its noise is S2 plus what the unseen part of <w_bar, z> varies given z_B; rows count by the inverse of that.
#pragma once

#include <span>
#include <vector>

#include "linalg/matrix.hpp"

namespace keyhole::peers {

using linalg::Index;

// a = R_BB^-1 z_B, the fitted value f = c_B'a with c = R w_bar, and what B explains, c_B' R_BB^-1 c_B.
struct FilledRow {
  std::vector<double> a;
  double f = 0.0;
  double explained = 0.0;
};
FilledRow fill_in(linalg::ConstMatrixView R, std::span<const double> c, std::span<const Index> B,
                  std::span<const double> z);

// The posterior's normal equations G w = b, and g = G w for the sample w at hand.
struct Posterior {
  linalg::MatrixView G;
  std::span<double> b;
  std::span<double> g;
  std::span<double> w;
};

// One filled-in row: G += weight z z', b += weight r z, g = G w.
void learn_row(linalg::ConstMatrixView R, const Posterior& posterior, std::span<const Index> B,
               std::span<const double> a, double r, double weight);

// All rows anew. `bought` (T, k) are the places, -1 where none; Z their standard values; r the labels about their mean.
// Rows that follow each other and bought the same are filled in together. The weighted sum of (squared residual - what
// was unseen) and the sum of the weights.
struct NoiseSums {
  double numerator = 0.0;
  double denominator = 0.0;
};
NoiseSums normal_equations(linalg::ConstMatrixView R, linalg::BasicMatrixView<const Index> bought,
                           linalg::ConstMatrixView Z, std::span<const double> r, std::span<const double> w_bar,
                           double S2, linalg::MatrixView G, std::span<double> b);

// How much each attribute is wanted: the effects of the sample first, then draws of those it left out.
void acquisition_scores(const Posterior& posterior, double tau, std::span<const double> normal, std::span<double> score);

// One Gibbs sweep of (which effects are not 0, their sizes), then moves of effects to other attributes. `seen` counts
// observations; `odds` are the prior log odds; `uniform` has 3 d draws, `normal` 2 d. `mean` becomes the mean of the
// effects given which are not 0.
void gibbs_sweep(const Posterior& posterior, std::span<const double> seen, double tau, double odds,
                 std::span<const double> uniform, std::span<const double> normal, std::span<double> mean);

}  // namespace keyhole::peers
