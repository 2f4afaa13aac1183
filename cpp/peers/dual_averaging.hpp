// Dual averaging on the Euclidean ball |w| <= R (Ito et al. 2017): w = -h / max(lam, |h| / R), h the sum of gradients.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::peers {

// Rounds on the attributes S in place: predict <w(S), x>, add its gradient to h(S). `tally` = (rounds, sum of |g|^2).
// lam = rate sqrt(rounds + 1), or with `adaptive` rate sqrt(sum |g|^2). A NaN label teaches nothing.
void dual_averaging_epoch(std::span<double> h, std::span<double> tally, std::span<const linalg::Index> S,
                          linalg::ConstMatrixView X, std::span<const double> y, double rate, bool adaptive, double R,
                          std::span<double> y_hat);

}  // namespace keyhole::peers
