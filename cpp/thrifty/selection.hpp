// Selection: which sources join the support, leave it, or replace one another.
//
// L = 2 ln(e n / k) is the price of choosing k of n sources; for a source of q attributes it becomes the quantile of
// chi-square with q degrees of freedom that has the same tail probability. A member stays while its evidence >= L/2 and
// it explains more than its price is worth. A candidate joins if its evidence > L and its evidence in the fit of the
// new support is > L/2; without room it must also explain more than the members that it replaces. A source that left
// does not come back at the same refit.
#pragma once

#include "thrifty/exploration.hpp"

namespace keyhole::thrifty {

// Solve least squares, change the support until nothing changes, decide what to look at, and set when to do so again.
void refit(const State& state);

// Score again the candidates that stored row t shows; returns whether one of them should join now.
bool rescore_shown_candidates(const State& state, Index t);

}  // namespace keyhole::thrifty
