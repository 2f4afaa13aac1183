#include "dantzig/face.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/multiversion.hpp"
#include "linalg/vector.hpp"

namespace keyhole::dantzig {

namespace {

// A dual residual this close to its bound, relative to it, is at it; a dual coefficient below this share of the largest
// is 0.
constexpr double kTied = 1e-10;
// What a second objective must gain per unit to be worth a pivot: more than rounding.
constexpr double kGain = 1e-9;

// How many dual residuals are at their bounds: those of the basis, and the ties.
KEYHOLE_MULTIVERSION
Index count_tight(std::span<const double> y, std::span<const double> cost) {
  Index n = 0;
  for (std::size_t t = 0; t < y.size(); ++t) n += std::abs(y[t]) >= (1.0 - kTied) * cost[t];
  return n;
}

}  // namespace

bool next_on_face(const Store& store, const Basis& basis, Work& work, Index m) {
  const auto y = work.z[1].value;
  const auto cost = work.c[1].value;
  const auto l = work.x[1].value.first(m);
  const double zero = kTied * work.side[1].size_x;
  bool tied = count_tight(y, cost) > m;
  for (Index i = 0; i < m && !tied; ++i) tied = std::abs(l[i]) <= zero;
  if (!tied) return false;
  // The dual of the second objective: G' l2 = th preference cost on A, y2 = H' l2.
  const auto l2 = work.x[1].slope;
  const auto y2 = work.z[1].slope;
  for (Index i = 0; i < m; ++i) {
    const Index j = basis.idx[0][i];
    work.v[0][i] = basis.sgn[0][i] * work.preference[j] * cost[j];
  }
  linalg::times_transposed(basis.G_inv, m, work.v[0], l2);
  std::ranges::fill(y2, 0.0);
  add_rows(store, 1, basis.idx[1], l2, m, 1.0, y2);
  Side& event = work.side[1];
  event.kind = Event::nothing;
  double most = kGain;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (basis.pos[0][t] >= 0 || std::abs(y[t]) < (1.0 - kTied) * cost[t]) continue;
    const double sign = y[t] > 0.0 ? 1.0 : -1.0;
    const double gain = sign * y2[t] / cost[t] - work.preference[t];
    if (gain > most) {
      most = gain;
      event.kind = Event::enter;
      event.which = static_cast<Index>(t);
      event.sign = sign;
    }
  }
  const double size = linalg::largest_abs(l2.first(m), 1e-300);
  for (Index i = 0; i < m; ++i) {
    const double gain = -basis.sgn[1][i] * l2[i] / size;
    if (std::abs(l[i]) <= zero && gain > most) {
      most = gain;
      event.kind = Event::leave;
      event.which = i;
      event.sign = -1.0;
    }
  }
  return event.kind != Event::nothing;
}

}  // namespace keyhole::dantzig
