// What the parametric simplex works on.
//
// The problem is  min sum_j cost_j |w_j|  s.t.  |b - H w|_i <= Gamma_i. A basis is a set A of columns with signs th and a
// set R of as many rows with signs sg; G = H[R, A]. Its point is
//
//   w_A = G^-1 (b_R - sg Gamma_R),   l_R = G^-T th,   r = b - H[:, A] w_A,   y = H[R, :]' l_R,
//
// and it is optimal iff  th w_A >= 0,  sg l_R >= 0,  |r| <= Gamma,  |y| <= cost. The two halves are mirror images, and
// the kernels are written once, for a side f:
//
//   side 0 (primal)  coefficients x = w on A,  residual z = r, tight on R,  bound c = Gamma,  dz = -H dx
//   side 1 (dual)    coefficients x = l on R,  residual z = y, tight on A,  bound c = cost,   dz = +H' dx
//
// All of them are linear in mu between two pivots.
//
// Where several points are optimal, the one with the least sum_j preference_j cost_j |w_j| is taken (face.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linalg/matrix.hpp"

namespace keyhole::dantzig {

using linalg::Index;

// A quantity that is linear in mu: value + mu slope; `move` is its direction in the pivot at hand.
struct Linear {
  std::span<double> value;
  std::span<double> slope;
  std::span<double> move;
};

// What happens on a side: a coefficient reaches 0 and its index leaves the side's set; a residual reaches its bound and
// its index enters the other side's set.
enum class Event : std::int64_t { nothing = 0, leave = 1, enter = 2 };

// One side: how far the point is from feasible, and the side's next event.
struct Side {
  double excess = 0.0;  // of z over c, at most
  double tol_x = 0.0;   // tolerances
  double tol_z = 0.0;
  double size_x = 0.0;  // sizes of the directions
  double size_z = 0.0;
  double mu = 0.0;                // the event: at which mu,
  double sign = 0.0;              // at which bound,
  double t0 = 0.0;                // after a step t0 + mu t1 along the direction,
  double t1 = 0.0;
  Event kind = Event::nothing;    // what,
  Index which = 0;                // and the place of a leaving index, or an entering index itself
};

// The way from mu = 1 to mu = 0.
struct Path {
  double mu = 0.0;        // below 0: the point has to be computed first
  double seed = 0.0;      // of the perturbations' noise
  double b_max = 0.0;     // |b|_inf
  double objective = 0.0; // found: sum cost |w|,
  double gap = 0.0;       // the relative duality gap,
  Index pivots = 0;       // and after how many pivots
  Index restarts = 0;     // perturbations so far
  Index pivots_left = 0;  // pivots still allowed,
  Index face_left = 0;    // and among optimal bases
  Index widest = 0;       // the largest basis allowed
  Index updates = 0;      // rank-one updates of the inverse since it was computed
  Index since = 0;        // pivots since the point was computed
  Index missing = 0;      // the row of H that is needed and absent
};

// The index sets of both sides and the basis matrix; only the first m places are in use.
struct Basis {
  std::span<Index> idx[2];    // the members of A and of R
  std::span<double> sgn[2];   // th and sg
  std::span<Index> pos[2];    // (d) the place of an index in idx, or -1
  linalg::MatrixView G;       // H[R, A]
  linalg::MatrixView G_inv;   // its inverse

  Index capacity() const { return static_cast<Index>(idx[0].size()); }
};

// The point of a basis, the way it takes, and scratch.
struct Work {
  Linear x[2];  // coefficients (capacity)
  Linear z[2];  // residuals (d)
  Linear c[2];  // bounds (d); they have no direction
  std::span<const double> preference;  // (d) weights of the second objective, all positive
  Side side[2];
  Path path;
  std::vector<double> v[4];      // scratch (capacity)
  std::vector<double> ahead[2];  // scratch (d) of the ratio test: each residual's slope, and how far its bound is
};

}  // namespace keyhole::dantzig
