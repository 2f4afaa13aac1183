// A round and its solve without leaving the core: for learners that play many rounds in one call. What is rare (a basis
// that outgrows its arrays, a path that is lost) is left to the caller, who goes on from where this stopped, so that the
// numbers are the same to the bit.
#pragma once

#include <span>

#include "dantzig/parametric_path.hpp"
#include "dantzig/update.hpp"

namespace keyhole::dantzig {

// A sequence of Dantzig problems whose H is dense and symmetric.
struct Sequence {
  linalg::MatrixView H;
  std::span<double> b;
  const Store& store;
  const Basis& basis;
  Work& work;
  Index& m;        // size of the basis
  Index& updates;  // updates of the inverse since it was computed
  Index& s;        // rounds
};

// H[B, B] += h, b[B] += v, s += 1, for a round whose indices are distinct, whose numbers are finite and whose h is
// symmetric.
void add_round(const Sequence& sequence, const Round& round);

// Goes on from the basis at hand to the solution (w, l) at the widths in work.c[0]; it is one if `is_solved` says so.
Ending solve(const Sequence& sequence, std::span<double> w, std::span<double> l);

// Whether there is a solution, with its certificate: residuals and gap at most `tolerance`.
bool is_solved(const Ending& ending, double tolerance);

}  // namespace keyhole::dantzig
