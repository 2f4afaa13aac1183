// How the support changes: which sources leave, join, are swapped.
//
// With L = 2 ln(e n / k), the price of choosing k of n sources (for q attributes the quantile of chi-square with q degrees
// of freedom that is as improbable): a member stays while its evidence >= L/2 and it explains more than its price is
// worth; a candidate joins when its evidence > L, and > L/2 in the fit of the new support; without room, if it explains
// more than those that must go. A source that left does not come back at the same refit.
#pragma once

#include "thrifty/exploration.hpp"

namespace keyhole::thrifty {

// Weights anew, moves until nothing moves, what to look at next; again after 3 % more rows.
void refit(const State& state);

// r, c, se and ratio of the candidates that stored row t shows: whether one of them should join now.
bool refresh(const State& state, Index t);

}  // namespace keyhole::thrifty
