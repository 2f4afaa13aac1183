#include "dantzig/events.hpp"

#include <cmath>
#include <limits>

#include "dantzig/point.hpp"
#include "linalg/multiversion.hpp"

namespace keyhole::dantzig {

namespace {

// A pivot element below this fraction of its direction's scale is not one.
constexpr double kPivot = 1e-9;
// The share of a tolerance by which the first pass of Harris's ratio test is relaxed.
constexpr double kHarris = 0.1;
// The minimiser of the first pass must pass the second, whatever the rounding of its own quotient.
constexpr double kAgain = 1.0 + 1e-12;

// The mu of an event and its place or index; -1: none.
struct Breakpoint {
  double mu = 0.0;
  Index which = -1;
};

// The largest mu at which a coefficient that is wrong at mu = 0 becomes 0.
Breakpoint next_leave(std::span<const double> sgn, const Linear& x, Index m, double tol) {
  Breakpoint next;
  for (Index i = 0; i < m; ++i) {
    const double over = -sgn[i] * x.value[i];
    const double rate = sgn[i] * x.slope[i];
    if (over > tol && rate > 0.0 && over > next.mu * rate) next = {over / rate, i};
  }
  return next;
}

// The largest mu at which a residual that is too large at mu = 0 meets its bound; `pos` says which residuals are tight.
KEYHOLE_MULTIVERSION
Breakpoint next_enter(std::span<const Index> pos, const Linear& z, const Linear& c, double tol) {
  Breakpoint next;
  for (std::size_t t = 0; t < pos.size(); ++t) {
    const double over = std::abs(z.value[t]) - c.value[t];
    if (over > tol && pos[t] < 0) {
      const double rate = c.slope[t] - (z.value[t] > 0.0 ? z.slope[t] : -z.slope[t]);
      if (rate > 0.0 && over > next.mu * rate) next = {over / rate, static_cast<Index>(t)};
    }
  }
  return next;
}

// Slopes along a direction, and distances to what stops it.
struct Ahead {
  std::span<double> slope;
  std::span<double> left;
};

// For every residual its slope along the direction (0 where it is tight) and its distance to the bound ahead.
KEYHOLE_MULTIVERSION
void bounds_ahead(std::span<const Index> pos, const Linear& z, const Linear& c, double mu, Ahead ahead) {
  for (std::size_t t = 0; t < pos.size(); ++t) {
    const double slope = z.move[t];
    const double now = z.value[t] + mu * z.slope[t];
    const double left = c.value[t] + mu * c.slope[t] - (slope > 0.0 ? now : -now);
    ahead.slope[t] = pos[t] < 0 ? std::abs(slope) : 0.0;
    ahead.left[t] = left > 0.0 ? left : 0.0;
  }
}

// For every coefficient its slope towards 0 and its distance from it.
void zeros_ahead(std::span<const double> sgn, const Linear& x, Index m, double mu, Ahead ahead) {
  for (Index i = 0; i < m; ++i) {
    const double left = sgn[i] * (x.value[i] + mu * x.slope[i]);
    ahead.slope[i] = -sgn[i] * x.move[i];
    ahead.left[i] = left > 0.0 ? left : 0.0;
  }
}

// The longest step, up to `step`, that oversteps no bound by more than `relax`.
KEYHOLE_MULTIVERSION
double longest_step(Ahead ahead, Index n, double least, double relax, double step) {
  for (Index t = 0; t < n; ++t) {
    const double slope = ahead.slope[t];
    if (slope > least && ahead.left[t] + relax < step * slope) step = (ahead.left[t] + relax) / slope;
  }
  return step;
}

// Among those whose bound is within `step`, the one with the largest slope above `least` (which becomes it), or -1.
KEYHOLE_MULTIVERSION
Index steepest(Ahead ahead, Index n, double step, double& least) {
  Index index = -1;
  for (Index t = 0; t < n; ++t) {
    const double slope = ahead.slope[t];
    if (slope > least && ahead.left[t] <= step * slope * kAgain) {
      least = slope;
      index = t;
    }
  }
  return index;
}

}  // namespace

int next_event(const Basis& basis, Work& work, Index m) {
  set_tolerances(work, m);
  for (int f = 0; f < 2; ++f) {
    Side& side = work.side[f];
    Breakpoint next = next_leave(basis.sgn[f], work.x[f], m, 0.5 * side.tol_x);
    const Breakpoint enters = next_enter(basis.pos[1 - f], work.z[f], work.c[f], 0.5 * side.tol_z);
    side.kind = next.which < 0 ? Event::nothing : Event::leave;
    if (enters.mu > next.mu) {
      next = enters;
      side.kind = Event::enter;
    }
    side.mu = next.mu;
    side.which = next.which;
    side.sign = side.kind == Event::enter && work.z[f].value[next.which] > 0.0 ? 1.0 : -1.0;
  }
  return work.side[0].mu >= work.side[1].mu ? 0 : 1;
}

double ratio_test(int g, const Basis& basis, Work& work, Index m, double mu) {
  // The coefficients and the residuals of a direction have different units, so each is scaled by its own maximum.
  Side& side = work.side[g];
  const double unit_x = kPivot * side.size_x;
  const double unit_z = kPivot * side.size_z;
  const auto d = static_cast<Index>(work.ahead[0].size());
  const Ahead zeros{work.v[2], work.v[3]};
  const Ahead bounds{work.ahead[0], work.ahead[1]};
  zeros_ahead(basis.sgn[g], work.x[g], m, mu, zeros);
  bounds_ahead(basis.pos[1 - g], work.z[g], work.c[g], mu, bounds);
  double step = longest_step(zeros, m, unit_x, kHarris * side.tol_x, std::numeric_limits<double>::infinity());
  step = longest_step(bounds, d, unit_z, kHarris * side.tol_z, step);
  double slope = unit_x;
  side.which = steepest(zeros, m, step, slope);
  side.kind = side.which < 0 ? Event::nothing : Event::leave;
  slope = slope / unit_x * unit_z;
  const Index enters = steepest(bounds, d, step, slope);
  if (enters >= 0) {
    side.which = enters;
    side.kind = Event::enter;
  }
  side.sign = side.kind == Event::enter && work.z[g].move[side.which] > 0.0 ? 1.0 : -1.0;
  return step;
}

}  // namespace keyhole::dantzig
