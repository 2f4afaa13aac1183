// Redundant sources are not bought again: those that never varied, were never observed, or are determined by the
// support.
//
// An attribute is determined if least squares on the columns of the support leaves nothing of it in the newest rows
// that show all of them: |x_j - u'x|^2 <= 1e-6 |x_j - mean|^2 over m + 20 rows. One that has anything of its own is
// never redundant.
#pragma once

#include "thrifty/evidence.hpp"

namespace keyhole::thrifty {

// Mark the redundant sources outside the support; with a half-life they are bought again a few times per memory,
// because things may change. Returns the last member that the other members determine, or -1.
Index mark_redundant(const State& state);

}  // namespace keyhole::thrifty
