// Least squares on the columns of the support, from rows of which some lack a part of them.
//
//   w = argmin sum_t weight_t (y - y_bar - w'(x - x_bar))^2  +  5 pseudo-rows of each column's own mean and variance
//
// A row that shows all columns enters as it is. One that lacks the columns B enters with x_B replaced by its regression
// on the others (one EM step), and with weight s2 / (s2 + w_B' C w_B), C = cov(x_B | rest): the noise that the missing
// part adds. Such rows say nothing about w_B, but they keep what was known about the others when B joined.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

// A member source: its columns are first, ..., first + size - 1 of the fit.
struct Member { Index source, first, size; };

// The member sources in the order of their columns.
std::vector<Member> members(const State& state);

// The columns that are not seen into scratch.lost, and their covariance given those seen into scratch.inverse: how many.
Index condition(const State& state, const Fit& fit, Index m);

// Replace the deviations scratch.v of the u lost columns by their expectation given the others.
void expect(const State& state, const Fit& fit, Index m, Index u);

// w_B' C w_B over the lost columns, at most var(y); C w_B is left in scratch.row.
double hidden_noise(const State& state, Index u);

// Weights, V, P, C and what is explained, from the fit's Gram and the pseudo-rows:
// V = row_weight A^-1, w = A^-1 b, C = (A + what imputed values lack) / n, P = C^-1, explained = w' C w.
void solve(const State& state, const Fit& fit, Index m);

// Fit the first m columns of the trial on the stored rows; `guess` are expected weights.
void build(const State& state, Index m, std::span<const double> guess);

// Stored row t into the Gram of the support; what it lacks is imputed. scratch.v and seen hold its deviations as far as
// they were bought before the label.
void extend(const State& state, Index t);

// s2 = max(var(y) - explained, 0.3 mean squared prediction error), and cond = 1 / P_aa of each column.
void set_residual(const State& state);

// What the columns of a member explain beside the others: w_B' (P_BB)^-1 w_B.
double member_loss(const State& state, const Fit& fit, const Member& of);

// How much of a member's weights the pseudo-rows leave: what little it has of its own shrinks most. n / (n + 5) where it
// is like no other.
double kept_of_weight(const State& state, const Fit& fit, const Member& of);

// Evidence for a member: w_B' (V_BB)^-1 w_B / s2, chi-square with q degrees of freedom where it explains nothing.
double member_evidence(const State& state, const Fit& fit, const Member& of);

}  // namespace keyhole::thrifty
