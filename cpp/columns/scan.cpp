#include "columns/scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "linalg/multiversion.hpp"

namespace keyhole::columns {

KEYHOLE_MULTIVERSION
Extremes count_extremes(std::span<const double> x, double largest, double most, double least) {
  Index beyond = 0;
  Index extreme = 0;
  for (const double x_i : x) {  // no early end: then it runs at the speed of memory
    const double size = std::abs(x_i);
    beyond += size > largest;
    const bool zero = std::bit_cast<std::uint64_t>(x_i) == 0;  // +0: -0 has a bit set, and learners see +0 instead
    extreme += (size > most) | ((size < least) & !zero);
  }
  return {beyond, extreme};
}

void count_outside(std::span<const double> x, std::span<const Index> columns, const RangeCounts& counts) {
  for (std::size_t t = 0; t < x.size(); ++t) {
    const Index i = columns[t];
    const double value = x[t];
    if (!std::isfinite(value)) continue;
    counts.seen[i] += 1;
    counts.outside[i] += value < counts.low[i] || value > counts.high[i];
    counts.smallest[i] = std::min(counts.smallest[i], value);
    counts.largest[i] = std::max(counts.largest[i], value);
  }
}

}  // namespace keyhole::columns
