// thrifty: a row is asked for, predicted, and learnt from. docs/thrifty.md has the algorithm in one box.
#pragma once

#include "thrifty/basket.hpp"

namespace keyhole::thrifty {

// What the values bought before the label say.
struct Signal {
  double f;      // f / (1 + h), beyond the label's mean
  double h;      // leverage
  Index shown;   // columns of the support that are seen
  double slack;  // how far beyond the range of the labels it may lead, in ranges
};

struct Prediction { double centre, spread; };

// Choose a basket and book its price. prices: what every source costs in this row; empty: what they usually do.
Basket ask(const State& state, std::span<const std::uint8_t> pool, std::span<const double> prices,
           std::vector<Index>& out);

// scratch.v: deviations of the columns from their means, those not seen imputed; scratch.seen: 1 for the others.
Signal signal(const State& state, std::span<const Index> attributes, std::span<const double> x);

// The prediction and its expected deviation, in the label's units; label_center before the first label.
Prediction predict(const State& state, std::span<const Index> attributes, std::span<const double> x);

// Learn from a row: values x of the attributes, of which the first `before` were known before the label. NaN: missing.
void tell(const State& state, std::span<const Index> attributes, std::span<const double> x, Index before, double y);

// Whether the store of rows has to grow before a row of so many values can be told.
bool must_grow(const State& state, Index values);

// Learn past rows of X (n x d) from `first` on, NaN where nothing was observed: nothing was asked for them, and each is
// predicted from the support before it is learnt. Returns how many are done: fewer where the fit needs room.
Index learn(const State& state, const double* X, const double* y, Index n, Index first);

// Play the rows of X (n x d) from `first` as the protocol would, reading no value that was not bought, until all are played
// or arrays must grow; how many are played then. A NaN label closes a round unlearnt. Outputs per row: prediction, whether
// it explored, the lowest interval level that held the label, price; bought (n x most_values) with sizes (n x 3):
// attributes before the label, after it, sources.
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
