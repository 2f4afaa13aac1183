// One pass over values, where numpy would need one for each thing to count.
#pragma once

#include <cstdint>
#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::columns {

using linalg::Index;

// How many |x_i| > largest, and how many > most or below least and not +0; NaN compares as false.
struct Extremes {
  Index beyond = 0;
  Index extreme = 0;
};
Extremes count_extremes(std::span<const double> x, double largest, double most, double least);

// Per column: values seen, those outside low..high, the smallest and the largest.
struct RangeCounts {
  std::span<const double> low;
  std::span<const double> high;
  std::span<Index> seen;
  std::span<Index> outside;
  std::span<double> smallest;
  std::span<double> largest;
};

// Takes note of the finite values x of these columns.
void count_outside(std::span<const double> x, std::span<const Index> columns, const RangeCounts& counts);

}  // namespace keyhole::columns
