// One pivot: the direction an event opens on the other side, the step along it, and the new basis.
#pragma once

#include "dantzig/basis.hpp"
#include "dantzig/rows.hpp"

namespace keyhole::dantzig {

// How side g moves by the event of the other side: an index enters its set, or a residual comes off its bound.
//
//   enter j:  dx_j = s, dx = -s G^-1 H[R, j]  (g = 0; for g = 1 the same with G' and H'), so tight residuals stay so.
//   leave p:  dz_p = -sgn_p, the other tight residuals stay.
//
// Returns H at the crossing of the two events' indices, of use where both are to enter.
double direction(int g, const Store& store, const Basis& basis, Work& work, Index m);

// Notes the step t0 + mu t1 along side f's direction that makes its event true; returns the size of the pivot element.
double step_to(int f, Work& work);

// y += (t0 + mu t1) dy for every mu at once, for the first n entries.
void advance(const Linear& y, Index n, double t0, double t1);

// Applies the events of both sides to the basis; returns the new size. Two entering indices make the basis grow, two
// leaving ones shrink it, else a column or a row is swapped; for the inverse each of the four is G^-1 -= u v' / p and a
// new row or column.
Index exchange(const Basis& basis, Work& work, Index m, double corner);

}  // namespace keyhole::dantzig
