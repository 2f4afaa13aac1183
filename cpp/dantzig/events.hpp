// What happens next on the way from mu = 1 to mu = 0, and what has to happen with it.
//
// On side f a coefficient reaches 0 and its index leaves the side's set, or a residual reaches its bound and its index
// enters the other side's set. An event of one side is paired with one of the other, found by a ratio test along the
// direction the first one opens; or, for a leaving index, the residual goes on to its other bound (a flip).
#pragma once

#include "dantzig/basis.hpp"

namespace keyhole::dantzig {

// Notes the next event of each side and returns the side whose event is first, that is, at the larger mu. It works at
// half the tolerance of `evaluate`, so that it sees what that one refuses.
int next_event(const Basis& basis, Work& work, Index m);

// Notes what stops a move of side g, and returns the step: Harris's two passes, the largest pivot element wins.
double ratio_test(int g, const Basis& basis, Work& work, Index m, double mu);

}  // namespace keyhole::dantzig
