// Evidence: what the stored rows say about every source outside the support.
//
// A stored row shows attribute j and some columns A of the support, and lacks the other columns B. It enters with the
// residual e = y - y_bar - w'x, where x_B is replaced by its expectation given x_A, and with the weight
//
//   s2 / (s2 + w_B' C_B w_B)  *  c_j / (c_j + u_B' C_B u_B)                     C_B = cov(x_B | x_A)
//
// The first factor is the residual noise weight: w_B' C_B w_B of the noise in e is due to B. The second is the own
// share: u_B' C_B u_B of what x_j shows beyond A may be shared with B, so a row that lacks the members for which j may
// be a proxy says next to nothing about j. From the rows so weighted
//
//   q_ja = cov(x_j, x_a), u_j = P q_j        from the rows that show both, and from what the other columns imply
//   c_j  = var(x_j) - q_j' P q_j             partial variance: what x_j has of its own
//   r_j  = mean of (x_j - u_j'x) e           residual covariance
//   se_j^2 = c_j s2 / (sum of weights) + what the uncertainty of q_ja adds
//
// A source of q attributes has the residual covariances r in R^q, V (q x q), the covariance of what its attributes have
// of their own, the gain r' V^-1 r, and z^2 = r' N^-1 r with the covariance N of r and q degrees of freedom. Decisions
// see it as its best linear combination.
#pragma once

#include "thrifty/fit.hpp"

namespace keyhole::thrifty {

// A source outside the support as its best linear combination (a single attribute: that attribute).
struct Candidate {
  Index source = -1;
  bool known = false;      // seen in enough rows, and not constant
  double r = 0.0;          // covariance with the residual, less what q - 1 directions fit by chance
  double c = 1.0;          // partial variance
  double se = 1e9;         // standard error of r
  double variance = 0.0;   // 0: nothing is known about it
  double z2 = 0.0;         // chi-square with q degrees of freedom if it explains nothing
  double rows = 0.0;       // present rows, each counted by its weight
  double* u = nullptr;     // (m) its regression on the columns of the support
};

// Add stored row t to the unweighted sums of the attributes that it shows outside the support.
void add_to_moments(const State& state, Index t);

// Add stored row t to their weighted sums.
void add_to_weighted_sums(const State& state, Index t);

// Build all sums again from the stored rows, because the support has changed.
void rebuild_sums(const State& state);

// Weight all stored rows again by the present estimates, if these have changed enough; twice for another support.
void reweight(const State& state);

// Returns the prior rows of a correlation: 1 / (mean squared correlation of candidates with columns beyond chance).
double shrinkage(const State& state);

// Estimate r, c and se of the attributes of source s, and return it as a candidate. `u` grows to (q + 1)(m + 1)
// numbers, and the candidate points into it.
Candidate evaluate_candidate(const State& state, Index s, std::vector<double>& u);

// Returns z^2 after the Bartlett correction.
double corrected_evidence(const State& state, const Candidate& candidate);

// Weighted sums over the rows that show two candidates, of what they have of their own (x, z) and of the residual e.
struct JointSums { double n, x, z, e, xx, zz, xz, xe, ze; };

// Writes the sums of every two of these attributes: out[i * size + l] for i < l.
void sum_jointly(const State& state, std::span<const Index> attributes, std::vector<JointSums>& out);

// Writes what each member explains once the candidate is in: w' = w - u r / c, P' = P + u u' / c,
// loss = w'_B' (P'_BB)^-1 w'_B for the columns B of the member.
void losses_beside(const State& state, const Candidate& candidate, double r, std::span<const Member> list,
                   double* losses);

// Returns the log likelihood ratio of z^2 between a source of q attributes that explains `gain` and one that explains
// nothing.
double log_likelihood_ratio(const Candidate& candidate, Index q, double gain);

}  // namespace keyhole::thrifty
