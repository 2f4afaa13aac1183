// Many rounds of DS-POSLRC (Algorithm 3) in one call, as the protocol would play them. No value is read that was not
// bought. The random numbers a round takes do not depend on what is learnt, so that the caller draws them beforehand.
#pragma once

#include <span>

#include "dantzig/sequence.hpp"
#include "linalg/matrix.hpp"

namespace keyhole::poslrc {

using linalg::Index;

// w_hat_s, S_s, the width, and how they are used.
struct Estimate {
  std::span<double> w_hat;
  std::span<Index> S;                   // ascending
  std::span<const Index> permutation;   // (d) breaks ties
  std::span<double> V;                  // of the self-tuned width; empty where the width is one number a round
  double scale;
  std::span<const double> gammas;       // the widths at s = first, first + 1, ... where they are numbers
  Index first;
  Index every;                          // solve every so many rounds; 0: at the powers of two
  bool uniform;                         // sample uniformly instead of by w_hat
  Index& solved;                        // solves so far,
  Index& zeros;                         // and those with w_hat = 0
};

// The random numbers of each row's SAMPLING; empty where everything outside S is bought.
struct Draws {
  std::span<const double> u;
  linalg::BasicMatrixView<const Index> others;
};

// How a call ends: all rows are played; a solve needs the caller's help; w_hat has been 0 for so long that the user has
// to be told.
enum class Stop : std::int64_t { done = 0, open = 1, silent = 2 };

struct Outcome {
  Stop stop = Stop::done;
  Index t = 0;        // rows played
  bool warm = false;  // whether the open solve had begun at a basis
  dantzig::Ending ending;
};

// Whether DS(gamma_s) is solved after round s.
bool is_due(Index every, Index s);

// Plays the rows of X from t on; predictions go into y_hat, what each row bought into `bought` (k columns of S, then the
// extra ones). `patience`: after exactly so many solves that all gave w_hat = 0 it stops as silent.
Outcome play(const Estimate& estimate, const dantzig::Sequence& sequence, const Draws& draws, linalg::StridedMatrixView X,
             std::span<const double> y, std::span<double> y_hat, linalg::BasicMatrixView<Index> bought, Index t,
             Index patience, double tolerance);

}  // namespace keyhole::poslrc
