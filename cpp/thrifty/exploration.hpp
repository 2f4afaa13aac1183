// Exploration: which sources outside the support to look at, and what a look is worth.
//
// A look is one purchase of a source that is not a member, made in order to learn about it. It costs the price of the
// source in squared error, price / rate (nothing where prices need not be earned), and, where the support is full, what
// the member that it displaces would have explained. A source is looked at while
//
//   H * (expected value of knowing its gain) * (part of it that one look decides)  >  cost of a look
//
// where H is the number of rows that will profit. Free places cost nothing: they go to the sources that most probably
// matter.
#pragma once

#include "thrifty/evidence.hpp"
#include "thrifty/knapsack.hpp"
#include "thrifty/posterior.hpp"

namespace keyhole::thrifty {

// A member or significant candidate that competes for places and money: what it explains, and its price.
struct Contender { Index source; double value, price; };

// Returns what is left of total_budget; infinity without one.
inline double money_left(const State& state) {
  const double total = state.settings().total_budget, spent = state.scalars().spent;
  return total < infinity ? std::max(0.0, total * (1.0 - 1e-13) - spent - state.scalars().spent_remainder) : infinity;
}

// Returns how many rows are still expected.
inline double rows_left(const State& state) {
  return std::max(1.0, state.settings().expected_rows - static_cast<double>(state.scalars().n_asked));
}

// Returns what a row may spend on average so that the money lasts for the expected rows.
inline double pace(const State& state) {
  return 1.0 / rows_left(state) * money_left(state);
}

// Returns the money per unit of squared error, in the scale of the stored labels: error_cost, or the shadow price of
// total_budget; infinity where prices need not be earned.
double rate(const State& state);

// Returns the price of a source in units of squared error; a finite number also where nothing is worth a price.
inline double price_in_error(const State& state, Index s) {
  constexpr double unaffordable = 1e200;
  const double price = state.source[s].price, rate = state.scalars().rate;
  return price > 0.0 && rate < infinity ? std::min(price / rate, unaffordable) : 0.0;
}

// Returns whether sources must earn their price.
inline bool prices_must_be_earned(const State& state) { return state.scalars().rate < infinity; }

// Returns the posterior of what a candidate explains beside the support.
Posterior posterior_of(const State& state, const Candidate& candidate);

// Returns the posterior of what a member of a fit with m columns explains beside the other members.
Posterior posterior_of(const State& state, const Fit& fit, Index m, const Member& member);

// Learn the probabilities of the spike and the slabs from all sources: one step of empirical Bayes.
void update_prior(const State& state);

// Returns what a relevant source is expected to explain: as much as a member on average, or, without members, its share
// of the residual variance.
double expected_effect(const State& state);

// Returns the probability that a source is worth a place before anything is known about it.
inline double prior_probability(const State& state) {
  return static_cast<double>(state.settings().expected_relevant) / static_cast<double>(state.order.size());
}

// Returns the probability that a source outside the support is worth a place.
double probability(const State& state, Index s);

// Returns the members and the significant candidates, those that explain most first, at most 30.
std::vector<Contender> basket_contenders(const State& state, std::span<const Member> list);

// Returns the members that are not free as a knapsack problem; the value of each is what it explains.
KnapsackProblem member_knapsack(const State& state, std::span<const Member> list);

// Set exploration_value, displaced_member, proxied_member and proxy_odds of a source outside the support. room: whether
// there is a free place for it; contenders: those of basket_contenders, needed under budget_per_row only.
void set_exploration_value(const State& state, const Candidate& candidate, std::span<const Member> list, bool room,
                           std::span<const Contender> contenders);

// Queue the sources that may displace a member, the most valuable first, and set the label at which to refit.
void queue_explorations(const State& state);

}  // namespace keyhole::thrifty
