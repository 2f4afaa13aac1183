// Ties: DS(gamma) may have many solutions, and the paper leaves open which is meant.
//
// The rule is a second objective, sum_j preference_j cost_j |w_j|, minimised among the solutions of the first. On that
// face no w_j changes sign, so that it is a linear program whose bases are the optimal ones; it is solved by the primal
// simplex. Preferences that satisfy no linear equation leave a single solution.
#pragma once

#include "dantzig/basis.hpp"
#include "dantzig/rows.hpp"

namespace keyhole::dantzig {

// Notes, as the dual side's event, the exchange that keeps the basis optimal and lowers the second objective fastest.
// False where there is none. The point of the basis must have been computed, and be optimal.
bool next_on_face(const Store& store, const Basis& basis, Work& work, Index m);

}  // namespace keyhole::dantzig
