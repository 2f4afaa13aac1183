// Fit: least squares on the columns of the support, from rows of which some lack a part of the columns.
//
//   w = argmin sum_t weight_t (y - y_bar - w'(x - x_bar))^2  +  `prior_rows` pseudo-rows of each column's mean and variance
//
// A row that shows all columns enters as it is. A row that lacks the columns B enters with x_B replaced by its
// regression on the columns that it shows (one step of expectation maximisation), and with weight s2 / (s2 + w_B' C_B
// w_B), where C_B = cov(x_B | rest) is the noise that the missing part adds. Such a row says nothing about w_B, but it
// keeps what was known about the other weights when B joined. A row that shows less than half of the columns is left
// out.
#pragma once

#include "thrifty/numbers.hpp"

namespace keyhole::thrifty {

// A member source: its columns are first, ..., first + size - 1 of the fit.
struct Member { Index source, first, size; };

// Returns the member sources, free ones included, in the order of their columns.
std::vector<Member> members(const State& state);

// Writes the columns that scratch.observed lacks into scratch.missing, and their covariance given the others into
// scratch.missing_covariance; returns how many they are.
Index condition_on_observed(const State& state, const Fit& fit, Index m);

// Replaces the deviations (scratch.deviation) of the missing columns by their expectation given the observed ones.
void impute_missing(const State& state, const Fit& fit, Index m, Index n_missing);

// Returns w_B' C_B w_B for the missing columns B, at most var(y), and leaves C_B w_B in scratch.product.
double imputation_noise(const State& state, Index n_missing);

// Solve for the weights of a fit with m columns, from its Gram matrix and the pseudo-rows:
// V = row_weight A^-1, w = A^-1 b, C = (A + what imputed values lack) / n, P = C^-1, explained = w' C w.
void solve(const State& state, const Fit& fit, Index m);

// Fit the first m columns of the trial fit on the stored rows. guess: the expected weights, for the weights of the
// rows.
void fit_trial(const State& state, Index m, std::span<const double> guess);

// Add stored row t to the Gram matrix of the support; what it lacks is imputed. scratch.deviation and scratch.observed
// hold the columns that were bought before the label.
void add_row_to_fit(const State& state, Index t);

// Set s2 = max(var(y) - explained, `residual_floor` * mean squared prediction error), and the partial variance 1 / P_aa
// of each column.
void update_residual_variance(const State& state);

// Returns what a member explains beside the other members: w_B' (P_BB)^-1 w_B for its columns B.
double member_loss(const State& state, const Fit& fit, const Member& member);

// Returns the factor by which the pseudo-rows shrink the weights of a member: n / (n + prior_rows) for a column that is
// unlike all others, less for one that has little of its own.
double ridge_shrinkage(const State& state, const Fit& fit, const Member& member);

// Returns the evidence for a member, w_B' (V_BB)^-1 w_B / s2: chi-square with q degrees of freedom if it explains
// nothing.
double member_evidence(const State& state, const Fit& fit, const Member& member);

}  // namespace keyhole::thrifty
