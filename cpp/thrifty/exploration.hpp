// Which sources outside the support to look at, and what a look is worth.
//
// In a free place a look costs its price at the present rate (money per unit of squared error); nothing without one. In
// a full support it also costs what the displaced member would have explained. A source is looked at while
//
//   horizon * rows so far * (what knowing it is worth)  >  (looks that know it twice as well) * (cost of a look)
//
// and free places go to the sources that most probably matter.
#pragma once

#include "thrifty/evidence.hpp"
#include "thrifty/posterior.hpp"

namespace keyhole::thrifty {

// A member or significant candidate that competes for places and money: what it explains and costs.
struct Contender { Index source; double value, price; };

// What a total leaves; and what of it a row may spend on average, so that it lasts. Infinite without a total.
inline double money_left(const State& state) {
  const double total = state.given().total_budget;
  return total < infinity ? std::max(0.0, total * (1.0 - 1e-13) - state.now().spent - state.now().spent_low) : infinity;
}
inline double rows_left(const State& state) {
  return std::max(1.0, state.given().expected_rows - static_cast<double>(state.now().n_asked));
}
inline double pace(const State& state) {
  return 1.0 / rows_left(state) * money_left(state);
}

// Money per unit of squared error in units of the label: by error_cost, or the shadow price of a total. Infinite where
// prices need not be earned.
double rate(const State& state);

// A price in units of squared error.
inline double price_in_error(const State& state, Index s) {
  const double p = state.source[s].price, of = state.now().rate;
  return p > 0.0 && of < infinity ? p / of : 0.0;
}

// Whether sources must earn their price.
inline bool weighed(const State& state) { return state.now().rate < infinity; }

// What a candidate explains beside the support, and what a member would leave unexplained.
Posterior believe(const State& state, const Candidate& of);
Posterior believe(const State& state, const Fit& fit, Index m, const Member& of);

// A step of empirical Bayes over all sources.
void learn_prior(const State& state);

// What a source worth a place explains: as much as members do, or its share of what is unexplained while there are none.
double expected_size(const State& state);

// The probability that a source is worth a place before anything is known of it.
inline double prior_probability(const State& state) {
  return static_cast<double>(state.given().k_prior) / static_cast<double>(state.order.size());
}

// The probability that a source outside the support is worth a place.
double probability(const State& state, Index s);

// Members and significant candidates by what they explain, the best 30.
std::vector<Contender> contenders(const State& state, std::span<const Member> list);

// Set value, displaced, proxy and odds of a source outside the support.
void appraise(const State& state, const Candidate& of, std::span<const Member> list, bool room,
              std::span<const Contender> rivals);

// Queue those that may displace a member, the most valuable first, and say when to refit.
void line_up(const State& state);

}  // namespace keyhole::thrifty
