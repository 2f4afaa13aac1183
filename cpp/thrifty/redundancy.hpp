// Redundant sources are not bought again: what never varied, was never observed, or is determined by the support.
//
// An attribute is determined where least squares on the columns leaves nothing of it, in the newest rows that show all:
// |x_j - u'x|^2 <= 1e-6 |x_j - mean|^2 over at least m + 20 rows. One with anything of its own is never taken for one.
#pragma once

#include "thrifty/evidence.hpp"

namespace keyhole::thrifty {

// Mark the redundant sources outside the support; with a half-life nothing is, because things change. Returns a member
// that the other members determine, the last of them; -1: none.
Index mark_redundant(const State& state);

}  // namespace keyhole::thrifty
