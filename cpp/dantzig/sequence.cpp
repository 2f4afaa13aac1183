#include "dantzig/sequence.hpp"

#include <algorithm>

namespace keyhole::dantzig {

void add_round(const Sequence& q, const Round& round) {
  const Index found = add_round(q.H, q.b, round, q.basis, q.work, q.m, kUpdates - q.updates, false);
  q.updates = found == kStaleInverse ? kUpdates + 1 : q.updates + found;
  q.s += 1;
}

Ending solve(const Sequence& q, std::span<double> w, std::span<double> l) {
  std::ranges::fill(w, 0.0);
  std::ranges::fill(l, 0.0);
  if (q.m == 0) q.updates = 0;
  const Ending ending = follow_path(q.store, q.basis, q.work, q.m, q.b, static_cast<double>(q.s), w, l, 0, q.updates);
  q.m = ending.m;
  q.updates = ending.updates;
  if (ending.verdict == Verdict::zero) {
    for (const auto& pos : q.basis.pos) std::ranges::fill(pos, Index{-1});
    q.m = 0;
    q.updates = 0;
  }
  return ending;
}

bool is_solved(const Ending& ending, double tolerance) {
  const bool proof = ending.primal <= tolerance && ending.dual <= tolerance && ending.gap <= tolerance;
  return ending.verdict == Verdict::zero || (ending.verdict == Verdict::optimal && proof);
}

}  // namespace keyhole::dantzig
