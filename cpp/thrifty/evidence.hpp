// What the stored rows say of every source outside the support.
//
// A row shows attribute j, a part A of the support, and lacks the other columns B. It enters with what A leaves
// unexplained, e = y - y_bar - w'x with x_B replaced by E(x_B | x_A), and with the weight
//
//   s2 / (s2 + w_B' C w_B)  *  c_j / (c_j + u_B' C u_B)                     C = cov(x_B | x_A)
//
// of the noise in e, w_B' C w_B is due to B; of what x_j shows beyond A, u_B' C u_B may be B's doing. So a row that
// lacks what j may stand in for says next to nothing of it. From the rows so weighted
//
//   q_ja = cov(x_j, x_a), u_j = P q_j        by the rows that show both, and by what the other columns say
//   c_j  = var(x_j) - q_j' P q_j             what x_j has of its own
//   r_j  = mean of (x_j - u_j'x) e,          se_j^2 = c_j s2 / h_j + what q_ja adds
//
// A source of q attributes has r in R^q, V (q x q) the covariance of what its attributes have of their own, gain
// r' V^-1 r, and z^2 = r' N^-1 r with q degrees of freedom. Decisions see it as its best linear combination.
#pragma once

#include "thrifty/fit.hpp"

namespace keyhole::thrifty {

// A source as its best linear combination: of a single attribute, that attribute.
struct Candidate {
  Index source = -1;
  bool known = false;      // seen often enough, and varied
  double r = 0.0;          // covariance of the combination with the residual, less what q - 1 directions fit by chance
  double c = 1.0;          // what it has of its own
  double se = 1e9;
  double variance = 0.0;   // 0: nothing is known of it
  double z2 = 0.0;         // chi-square with q degrees of freedom where it explains nothing
  double rows = 0.0;       // rows, by what each says of it
  double* u = nullptr;     // (m) its regression on the columns of the support
};

// Stored row t into the moments of the attributes it shows outside the support, and into what is heard of them.
void count(const State& state, Index t);
void accumulate(const State& state, Index t);

// All moments anew from the stored rows: the support has changed.
void recount(const State& state);

// Reweight all rows by what each attribute has of its own now, where there is news; twice for another support.
void reweight(const State& state);

// 1 / (mean squared correlation of candidates with columns beyond chance): how far to trust few joint rows.
double shrinkage(const State& state);

// Work out r, c, se of a source's attributes. `u` must have room for (q + 1) m numbers; the candidate points into it.
Candidate regress(const State& state, Index s, std::vector<double>& u);

// z^2 after the Bartlett correction.
double evidence(const State& state, const Candidate& of);

// Sums over the rows that show two candidates, of what they have of their own (x, z) and of what the support leaves (e).
struct JointSums { double n, x, z, e, xx, zz, xz, xe, ze; };

// The sums of every two of these attributes: out[i * size + l] for i < l.
void sum_jointly(const State& state, std::span<const Index> attributes, std::vector<JointSums>& out);

// What each member explains once the candidate is in: w' = w - u r / c, P' = P + u u' / c, loss = w'_B' (P'_BB)^-1 w'_B.
void swap_losses(const State& state, const Candidate& of, double r, std::span<const Member> list, double* losses);

// ln of how much likelier z is of a source that explains `size` than of one that explains nothing.
double log_likelihood_ratio(const Candidate& of, Index q, double size);

}  // namespace keyhole::thrifty
