#include "dantzig/parametric_path.hpp"

#include <algorithm>
#include <cmath>

#include "dantzig/events.hpp"
#include "dantzig/face.hpp"
#include "dantzig/pivot.hpp"
#include "linalg/inverse.hpp"
#include "linalg/multiversion.hpp"
#include "linalg/vector.hpp"

namespace keyhole::dantzig {

namespace {

// Pivots after which the point is computed anew.
constexpr Index kPivots = 40;
// Noise of the bounds that nothing violates: first, and after two restarts.
constexpr double kJitter = 1e-5;
constexpr double kStrongJitter = 1e-3;
// The slack that a violated bound is given beyond its violation, as a share of the bound.
constexpr double kSlack = 0.05;
// mu at which the way is at its end.
constexpr double kArrived = 1e-14;
// Pivots among optimal bases before the point at hand is taken: a bound on cycles, which were never seen.
constexpr Index kFacePivots = 500;

// A number in [0, 1) that looks random in t: what keeps equal data from being ties.
inline double noise(Index t, double seed) {
  double u = (static_cast<double>(t) + 1.0) * 0.6180339887498949 + seed * 0.7548776662466927;
  u = (u - std::floor(u)) * 9973.0;
  return u - std::floor(u);
}

// Slopes that give a coefficient of the wrong sign a small value of the right one at mu = 1. Whether there is any.
bool retarget(std::span<const Index> idx, std::span<const double> sgn, const Linear& x, Index m, double seed) {
  const double unit = linalg::largest_abs(x.value.first(m), 1e-300) / static_cast<double>(m);
  bool found = false;
  for (Index i = 0; i < m; ++i) {
    x.slope[i] = 0.0;
    if (sgn[i] * x.value[i] < 0.0) {
      x.slope[i] = sgn[i] * unit * (0.05 + 0.1 * noise(idx[i], seed)) - x.value[i];
      found = true;
    }
  }
  return found;
}

// Slopes of the bounds: the violation and some slack where there is one, else a jitter; 0 where the bound is tight.
KEYHOLE_MULTIVERSION
void widen(std::span<const Index> pos, const Linear& z, const Linear& c, double unit, double jitter, double seed) {
  for (std::size_t t = 0; t < pos.size(); ++t) {
    const double xi = noise(static_cast<Index>(t), seed);
    const double over = std::abs(z.value[t] + z.slope[t]) - c.value[t];
    double slope = unit * jitter * xi;
    if (over > 0.0 || std::abs(z.value[t]) > c.value[t]) {
      const double least = c.value[t] > 1e-3 * unit ? c.value[t] : 1e-3 * unit;
      slope = kSlack * (0.1 + xi) * least + (over > 0.0 ? over : 0.0);
    }
    c.slope[t] = pos[t] < 0 ? slope : 0.0;
  }
}

// Perturbs both sides so that the basis, which is not empty, is optimal at mu = 1.
void perturb(const Store& store, const Basis& basis, Work& work, Index m, double jitter, double seed) {
  for (int f = 0; f < 2; ++f) {
    const Linear& x = work.x[f];
    const Linear& z = work.z[f];
    std::ranges::fill(z.slope, 0.0);
    if (retarget(basis.idx[f], basis.sgn[f], x, m, seed)) {
      add_rows(store, f, basis.idx[f], x.slope, m, 2.0 * f - 1.0, z.slope);
      for (Index i = 0; i < m; ++i) z.slope[basis.idx[1 - f][i]] = 0.0;
    }
    widen(basis.pos[1 - f], z, work.c[f], f == 1 ? 1.0 : work.path.b_max, jitter, seed + f);
  }
}

// Whether a leaving coefficient's residual is at its other bound before `step`; then it may go there, and the step is
// noted.
bool flips(int f, const Basis& basis, Work& work, double mu, double step) {
  Side& here = work.side[f];
  Side& there = work.side[1 - f];
  if (here.kind != Event::leave) return false;
  const Index j = basis.idx[f][here.which];
  there.t0 = 2.0 * work.c[1 - f].value[j];
  there.t1 = 2.0 * work.c[1 - f].slope[j];
  here.t0 = 0.0;
  here.t1 = 0.0;
  return there.t0 + mu * there.t1 < step;
}

void start(Path& path, Index m, Index d, Index seed) {
  path.mu = -1.0;
  path.restarts = 0;
  path.since = 0;
  path.pivots = 0;
  path.seed = static_cast<double>(seed);
  // A start from a basis that wanders is lost early.
  path.pivots_left = m > 0 ? 3 * m + 40 : 2000 + 20 * d;
  path.widest = m > 0 ? 2 * m + 20 : d;
  path.face_left = kFacePivots;
}

// Evaluates, perturbs and pivots, again and again, until the basis is optimal or something is in the way. A pivot changes
// nothing before its last lines, so that one broken off for want of a row or of capacity can be repeated.
Verdict follow(const Store& store, const Basis& basis, Work& work, Index& m, std::span<const double> b, double scale,
               std::span<double> w, std::span<double> l) {
  Path& path = work.path;
  auto& sides = work.side;
  double corner = 0.0;
  while (true) {
    // The point of the basis; if it is not optimal, a perturbation under which it is.
    bool on_face = false;
    if (path.mu < 0.0) {
      const Verdict verdict =
          path.updates > kUpdates && m > 0 ? Verdict::stale : evaluate(store, basis, work, m, b);
      if (verdict == Verdict::optimal) {
        on_face = path.face_left > 0 && next_on_face(store, basis, work, m);
        if (!on_face) report(basis, work, m, b, scale, w, l);
      }
      if (verdict != Verdict::open && !on_face) return verdict;
      if (verdict == Verdict::open) {
        if (path.pivots_left < 0 || m > path.widest) return Verdict::lost;
        // A basis that is optimal no longer after a pivot on the face was no tie, but close to one.
        if (path.face_left < kFacePivots) path.face_left = 0;
        path.restarts += 1;
        path.pivots_left -= 1;
        path.mu = 1.0;
        if (m == 0) return Verdict::empty;
        perturb(store, basis, work, m, path.restarts <= 2 ? kJitter : kStrongJitter,
                path.seed + 101.0 * static_cast<double>(path.restarts));
      }
    }
    // The next event on the way to mu = 0; on the face it is noted already, and mu is 0.
    const int f = on_face ? 1 : next_event(basis, work, m);
    const double mu = on_face ? 0.0 : std::min(path.mu, sides[f].mu);
    if (!on_face) {
      path.mu = mu;
      if (sides[f].kind == Event::nothing || mu <= kArrived) {
        path.mu = -1.0;
        continue;
      }
    }
    // Its partner: first the direction of the other side, which leads to the partner; then that of this side.
    bool flip = false;
    for (const int g : {1 - f, f}) {
      const Side& event = sides[1 - g];
      if (event.kind == Event::enter && store.place[event.which] == kAbsent) {
        path.missing = event.which;
        return Verdict::missing;
      }
      corner = direction(g, store, basis, work, m);
      if (g == f) break;
      flip = flips(f, basis, work, mu, ratio_test(g, basis, work, m, mu));
      if (flip) break;
      if (sides[g].kind == Event::nothing) break;
    }
    if (!flip && sides[1 - f].kind == Event::nothing) {
      if (!on_face) return Verdict::stuck;
      path.face_left = 0;  // preferences are positive, so that only rounding leads here
      continue;
    }
    // The steps that make both happen.
    if (!flip) {
      if (sides[0].kind == Event::enter && sides[1].kind == Event::enter && m == basis.capacity()) {
        return Verdict::cramped;
      }
      for (int g = 0; g < 2; ++g) sides[g].mu = step_to(g, work);
      if (!(std::abs(sides[0].mu - sides[1].mu) <= 1e-7 * sides[0].mu)) {
        // Two values for one pivot: the inverse is worn; on the face, if it was fresh, the pivot is too small.
        if (on_face && path.updates == 0) path.face_left = 0;
        path.mu = -1.0;
        path.updates = kUpdates + 1;
        continue;
      }
    }
    // The pivot.
    for (int g = 0; g < 2; ++g) {
      advance(work.x[g], m, sides[g].t0, sides[g].t1);
      advance(work.z[g], static_cast<Index>(b.size()), sides[g].t0, sides[g].t1);
    }
    if (flip) {
      basis.sgn[f][sides[f].which] *= -1.0;
    } else {
      m = exchange(basis, work, m, corner);
    }
    path.pivots += 1;
    path.updates += 1;
    if (on_face) {
      path.face_left -= 1;
      continue;
    }
    path.pivots_left -= 1;
    path.since += 1;
    if (path.since >= kPivots || path.pivots_left < 0 || m > path.widest) {
      path.since = 0;
      path.mu = -1.0;
    }
  }
}

}  // namespace

Ending follow_path(const Store& store, const Basis& basis, Work& work, Index m, std::span<const double> b, double scale,
                   std::span<double> w, std::span<double> l, Index seed, Index updates) {
  Path& path = work.path;
  path.updates = updates;
  if (seed >= 0) start(path, m, static_cast<Index>(b.size()), seed);
  Index before = -1;
  Verdict verdict = Verdict::open;
  while (true) {
    verdict = follow(store, basis, work, m, b, scale, w, l);
    if (verdict != Verdict::stale || m > kSmall || path.pivots == before) break;
    before = path.pivots;
    path.updates = 0;
    if (!linalg::invert(basis.G, basis.G_inv, m, work.v[0])) break;
  }
  return {verdict,       m, path.pivots, path.updates, path.objective, work.side[0].excess, work.side[1].excess,
          path.gap};
}

}  // namespace keyhole::dantzig
