// The parametric path: perturb until the basis at hand is optimal at mu = 1, then take mu to 0.
//
//   |r_i| <= Gamma_i + mu g_i,   |y_j| <= cost_j + mu e_j,   and r, y are shifted where a coefficient has a wrong sign.
//
// Every quantity is linear in mu between two pivots, so that the next event is a quotient.
#pragma once

#include <span>

#include "dantzig/basis.hpp"
#include "dantzig/point.hpp"
#include "dantzig/rows.hpp"

namespace keyhole::dantzig {

// Rank-one updates after which the inverse is computed anew.
inline constexpr Index kUpdates = 60;
// Up to this size of the basis its inverse is computed here; a larger one is left to the caller, and to LAPACK.
inline constexpr Index kSmall = 48;

// How the way ended, and the certificate where it ended well.
struct Ending {
  Verdict verdict = Verdict::open;
  Index m = 0;
  Index pivots = 0;
  Index updates = 0;
  double objective = 0.0;
  double primal = 0.0;
  double dual = 0.0;
  double gap = 0.0;
};

// Follows the path from the basis at hand to the solution (w, l), which must hold zeros before. `seed` >= 0 starts anew;
// -1 goes on after missing, cramped, empty or stale. The inverse of a small basis is computed anew on the way; one that
// is worn right after that is singular: then, and where the basis is larger, it ends with stale.
Ending follow_path(const Store& store, const Basis& basis, Work& work, Index m, std::span<const double> b, double scale,
                   std::span<double> w, std::span<double> l, Index seed, Index updates);

}  // namespace keyhole::dantzig
