// Knapsack: the best basket under a limit on money and a limit on the number of things.
#pragma once

#include <span>
#include <vector>

#include "thrifty/records.hpp"

namespace keyhole::thrifty {

// Writes 1 into `taken` for the things that maximise the sum of values (all > 0) subject to a sum of prices <= money
// and at most `count` things; returns the maximum. The search is exact: depth first, most value per money first, with
// the bound of the fractional problem. After 100 000 baskets (things so alike that the search would never end) it
// returns the best so far.
double knapsack(std::span<const double> values, std::span<const double> prices, Index count, double money,
                std::span<Index> taken);

// Things that compete for places and money. Values must be positive, so each is raised by the smallest useful number.
struct KnapsackProblem {
  std::vector<Index> thing;
  std::vector<double> value, price;

  void add(Index s, double worth, double cost) {
    thing.push_back(s);
    value.push_back(worth + 1e-300);
    price.push_back(cost);
  }
  // Returns 1 for the things of the best basket.
  std::vector<Index> best(Index count, double money) const {
    std::vector<Index> taken(thing.size());
    knapsack(value, price, count, money, taken);
    return taken;
  }
};

}  // namespace keyhole::thrifty
