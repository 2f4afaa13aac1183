// The basket of a row: the free attributes, the members that can be had and paid, in at most every second row one
// candidate in the place of a member, and in every free place the source that most probably matters.
#pragma once

#include "thrifty/exploration.hpp"

namespace keyhole::thrifty {

struct Basket {
  Index attributes;  // bought before the label
  Index extras;      // bought after the label
  Index sources;     // sources that were paid, before and after the label
  double price;
  bool explores;     // whether any source was bought in order to learn about it
};

// Writes the attributes to buy into `out`, free ones first, the extras last. pool[s]: whether source s can be had.
Basket choose_basket(const State& state, std::span<const std::uint8_t> pool, std::vector<Index>& out);

}  // namespace keyhole::thrifty
