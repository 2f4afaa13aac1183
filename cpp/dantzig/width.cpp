#include "dantzig/width.hpp"

#include <cmath>

#include "linalg/multiversion.hpp"

namespace keyhole::dantzig {

KEYHOLE_MULTIVERSION
void set_widths(std::span<const double> V, double scale, std::span<double> gamma) {
  double total = 0.0;
  for (const double V_i : V) total += V_i;
  const double least = 0.1 * (total / static_cast<double>(V.size()));
  for (std::size_t i = 0; i < V.size(); ++i) gamma[i] = scale * std::sqrt(V[i] > least ? V[i] : least);
}

}  // namespace keyhole::dantzig
