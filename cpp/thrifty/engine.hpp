// Engine: ask for a row, predict it, learn from its label. docs/thrifty.md has the algorithm in one box.
#pragma once

#include "thrifty/basket.hpp"

namespace keyhole::thrifty {

// What the values bought before the label say.
struct Signal {
  double f;       // w'(x - x_bar) beyond the label's mean, shrunk by the leverage
  double h;       // leverage
  Index shown;    // columns of the support that were observed
  bool whole;     // whether all columns of the support were observed
  double hidden;  // variance of the label that the columns not observed hide
  double slack;   // label ranges by which the prediction may leave the range of the labels
};

struct Prediction { double centre, spread; };

// Chooses a basket and books its price. prices: what every source costs in this row; empty: the usual prices.
Basket ask(const State& state, std::span<const std::uint8_t> pool, std::span<const double> prices,
           std::vector<Index>& out);

// Returns the signal, and leaves in scratch.deviation the deviations of the columns from their means, imputed where
// they were not observed, and in scratch.observed 1 for those that were.
Signal compute_signal(const State& state, std::span<const Index> attributes, std::span<const double> x);

// Returns the prediction and its expected deviation, in the label's units; 0 before the first label.
Prediction predict(const State& state, std::span<const Index> attributes, std::span<const double> x);

// Learn from a row: values x of the attributes, of which the first `before` were bought before the label. NaN: missing.
void tell(const State& state, std::span<const Index> attributes, std::span<const double> x, Index before, double y);

// Returns whether the store must grow before a row of so many values can be told.
bool must_grow(const State& state, Index values);

// Learn the past rows of X (n x d) from `first` on, NaN where nothing was observed. They were not asked for, and each
// is predicted from the support before it is learnt. Returns how many are done: fewer than n where the fit needs more
// columns. first = n: only choose the support again.
Index learn(const State& state, const double* X, const double* y, Index n, Index first);

// Plays the rows of X (n x d) from `first` on, reading no value that was not bought, until all are played or arrays
// must grow; returns how many are played then. A NaN label closes a round unlearnt. Outputs for each row: the
// prediction, whether it explored, the lowest interval level that held the label, the price; what was bought (n x
// most_values), and its sizes (n x 3): attributes before the label, attributes after it, sources.
struct Rows {
  const double *X, *y;
  Index n, d, most_values;
  double *predictions, *levels, *prices;
  std::uint8_t* explored;
  Index *bought, *sizes;
  const double* prices_given;  // (n, sources), or null: the usual prices
  Index n_sources;
  std::span<const double> row_prices(Index t) const {
    if (prices_given == nullptr) return {};
    return {prices_given + t * n_sources, static_cast<std::size_t>(n_sources)};
  }
};
Index play(const State& state, std::span<const std::uint8_t> pool, const Rows& rows, Index first);

}  // namespace keyhole::thrifty

