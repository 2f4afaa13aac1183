// The point a basis stands for, and whether it is optimal (formulas in basis.hpp).
#pragma once

#include <span>

#include "dantzig/basis.hpp"
#include "dantzig/rows.hpp"

namespace keyhole::dantzig {

// How a solve, or a part of one, ended.
enum class Verdict : std::int64_t {
  stale = -1,   // the inverse of the basis matrix has to be computed anew
  open = 0,     // the basis is not optimal
  optimal = 1,  // it is
  zero = 2,     // w = 0 is optimal
  lost = 3,     // too many pivots, or too large a basis
  stuck = 4,    // no partner for an event: perhaps infeasible
  missing = 5,  // to be called again with the row path.missing of H,
  cramped = 6,  // with arrays for a larger basis,
  empty = 7,    // with a perturbation of the empty basis
};

// Tolerances of coefficients (a fraction of the largest, or the noise of b in w) and of residuals, noted in work.side.
void set_tolerances(Work& work, Index m);

// Computes the point of the basis and judges it: stale, open, optimal or zero. The excess it notes is computed from H:
// it is the certificate.
Verdict evaluate(const Store& store, const Basis& basis, Work& work, Index m, std::span<const double> b);

// Writes w and scale l in full to (w, l), and notes the objective, the relative gap and the primal residual of the
// problem divided by `scale`; infinite where a row by itself seems missed.
void report(const Basis& basis, Work& work, Index m, std::span<const double> b, double scale, std::span<double> w,
            std::span<double> l);

}  // namespace keyhole::dantzig
