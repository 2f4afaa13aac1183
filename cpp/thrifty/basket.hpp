// What a row buys: free attributes, the members that can be had and paid, a look in the place of a member every second
// row while one is worth it, and in every free place the source that most probably matters.
#pragma once

#include "thrifty/exploration.hpp"

namespace keyhole::thrifty {

struct Basket {
  Index attributes;  // bought before the label
  Index extras;      // after it
  Index sources;     // paid: before and after
  double price;
  bool explores;
};

// Write the attributes to buy, free ones first, then the extras, into `out`. pool[s]: whether a source can be had.
Basket choose(const State& state, std::span<const std::uint8_t> pool, std::vector<Index>& out);

}  // namespace keyhole::thrifty
