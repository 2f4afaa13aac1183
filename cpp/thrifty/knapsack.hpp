// The best purchase that money can buy: a 0-1 knapsack with a limit on the number of things.
#pragma once

#include <span>
#include <vector>

#include "thrifty/records.hpp"

namespace keyhole::thrifty {

// taken = argmax of the sum of values s.t. sum of prices <= money, at most `count` things; values > 0. Depth first, most
// value per money first, with a bound by fractions; after 100 000 baskets (things so alike that a search would never
// end) the best so far is taken. Returns the best sum.
double knapsack(std::span<const double> values, std::span<const double> prices, Index count, double money,
                std::span<Index> taken);

}  // namespace keyhole::thrifty
