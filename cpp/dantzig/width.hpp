// The self-tuned width of the Dantzig constraint.
#pragma once

#include <span>

namespace keyhole::dantzig {

// gamma_i = scale sqrt(V_i), with no V_i below a tenth of their mean.
void set_widths(std::span<const double> V, double scale, std::span<double> gamma);

}  // namespace keyhole::dantzig
