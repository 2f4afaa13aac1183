// SAMPLING (Algorithm 2) and the probability that it observes an attribute, or a pair of them.
//
//   first index ~ q, the other m - 1 uniform without replacement from the n - 1 that remain:
//
//   P[i]    = (n-m)/(n-1) q_i + (m-1)/(n-1)
//   P[i, j] = (m-1)(m-2)/((n-1)(n-2)) + (m-1)(n-m)/((n-1)(n-2)) (q_i + q_j)
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::sampling {

using linalg::Index;

// q = |w| / |w|_1, and the uniform law where w = 0.
void set_law(std::span<const double> w, std::span<double> q);

// B = the first index ~ q by its uniform u, then the others, which are drawn from all but the first.
void join_draws(std::span<const double> q, double u, std::span<const Index> others, std::span<Index> B);

// P[i, j] for `fixed` always-observed attributes followed by m drawn of n whose q is given, m < n. P holds ones before.
void set_pair_probabilities(Index fixed, std::span<const double> q_B, Index n, Index m, linalg::MatrixView P);

}  // namespace keyhole::sampling
