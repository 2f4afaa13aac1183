#include "dantzig/pivot.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/multiversion.hpp"
#include "linalg/vector.hpp"

namespace keyhole::dantzig {

namespace {

constexpr double kTiny = 1e-300;

// Index j with sign s and coefficient x0 + mu x1 takes place p of side f.
void put(const Basis& basis, const Linear& x, int f, Index p, Index j, double s, double x0, double x1) {
  basis.idx[f][p] = j;
  basis.sgn[f][p] = s;
  basis.pos[f][j] = p;
  x.value[p] = x0;
  x.slope[p] = x1;
}

// A new column of G at place cp and a new row at rp (-1: none), with the parts of the inverse that are theirs.
void border(const Basis& basis, const Work& work, Index m, Index cp, Index rp, double p, double corner) {
  for (Index i = 0; i < m; ++i) {
    if (cp >= 0) {
      basis.G(i, cp) = work.v[0][i];
      basis.G_inv(cp, i) = work.v[3][i] / p;
    }
    if (rp >= 0) {
      basis.G(rp, i) = work.v[1][i];
      basis.G_inv(i, rp) = work.v[2][i] / p;
    }
  }
  if (cp >= 0 && rp >= 0) {
    basis.G(rp, cp) = corner;
    basis.G_inv(cp, rp) = -1.0 / p;
  }
}

// Column cp and row rp of G are gone; the last ones take their places.
void shrink(const Basis& basis, Index m, Index cp, Index rp) {
  for (Index j = 0; j < m; ++j) {
    basis.G_inv(cp, j) = basis.G_inv(m - 1, j);
    basis.G(rp, j) = basis.G(m - 1, j);
  }
  for (Index i = 0; i < m; ++i) {
    basis.G_inv(i, rp) = basis.G_inv(i, m - 1);
    basis.G(i, cp) = basis.G(i, m - 1);
  }
}

}  // namespace

double direction(int g, const Store& store, const Basis& basis, Work& work, Index m) {
  Side& side = work.side[g];
  const Side& event = work.side[1 - g];
  const auto dx = work.x[g].move;
  const auto dz = work.z[g].move;
  auto& v = work.v[g];
  const Index which = event.which;
  const double sign = 2.0 * g - 1.0;
  const double s = event.kind == Event::leave ? sign * basis.sgn[1 - g][which] : event.sign;
  double corner = 0.0;
  double size_x = kTiny;
  std::ranges::fill(dz, 0.0);
  side.size_z = 1.0;
  if (event.kind == Event::enter) {
    add_row(store, g, which, sign * s, dz);
    for (Index i = 0; i < m; ++i) v[i] = sign * s * dz[basis.idx[1 - g][i]];
    // Where this side's own event is yet to be found, `corner` is read again once it is.
    if (side.kind == Event::enter) corner = sign * s * dz[side.which];
    size_x = 1.0;
    side.size_z = linalg::largest_abs(dz, kTiny);
    if (g == 0) {
      linalg::times(basis.G_inv, m, v, dx);
    } else {
      linalg::times_transposed(basis.G_inv, m, v, dx);
    }
  } else {
    for (Index i = 0; i < m; ++i) dx[i] = g == 1 ? basis.G_inv(which, i) : basis.G_inv(i, which);
  }
  for (Index i = 0; i < m; ++i) dx[i] *= -s;
  add_rows(store, g, basis.idx[g], dx, m, sign, dz);
  side.size_x = linalg::largest_abs(dx.first(m), size_x);
  return corner;
}

double step_to(int f, Work& work) {
  Side& side = work.side[f];
  const Index i = side.which;
  double p = 0.0;
  if (side.kind == Event::leave) {
    const Linear& x = work.x[f];
    p = x.move[i];
    side.t0 = -x.value[i] / p;
    side.t1 = -x.slope[i] / p;
  } else {
    const Linear& z = work.z[f];
    const Linear& c = work.c[f];
    p = z.move[i];
    side.t0 = (side.sign * c.value[i] - z.value[i]) / p;
    side.t1 = (side.sign * c.slope[i] - z.slope[i]) / p;
  }
  return std::abs(p);
}

KEYHOLE_MULTIVERSION
void advance(const Linear& y, Index n, double t0, double t1) {
  double* const value = y.value.data();
  double* const slope = y.slope.data();
  const double* const move = y.move.data();
  for (Index t = 0; t < n; ++t) {
    value[t] += t0 * move[t];
    slope[t] += t1 * move[t];
  }
}

Index exchange(const Basis& basis, Work& work, Index m, double corner) {
  const auto& [primal, dual] = work.side;
  const bool column_enters = dual.kind == Event::enter;  // y_j at its bound: j enters A
  const bool row_enters = primal.kind == Event::enter;   // r_i at its bound: i enters R
  const Index which0 = primal.which;
  const Index which1 = dual.which;
  auto& v = work.v;
  for (Index i = 0; i < m; ++i) {
    v[2][i] = column_enters ? -dual.sign * work.x[0].move[i] : basis.G_inv(i, which1);
    v[3][i] = row_enters ? -primal.sign * work.x[1].move[i] : basis.G_inv(which0, i);
  }
  const bool both = row_enters && column_enters;
  const double p = both ? dual.sign * work.z[0].move[which0] : row_enters ? v[3][which1] : v[2][which0];
  linalg::subtract_outer(basis.G_inv, m, v[2], v[3], p);
  const Index cp = row_enters ? m : which0;
  const Index rp = column_enters ? m : which1;
  border(basis, work, m, column_enters ? cp : -1, row_enters ? rp : -1, p, corner);
  for (int f = 0; f < 2; ++f) {
    if (work.side[f].kind == Event::leave) basis.pos[f][basis.idx[f][work.side[f].which]] = -1;
  }
  const bool neither = !row_enters && !column_enters;
  for (int f = 0; f < 2; ++f) {
    const Side& here = work.side[f];
    const Side& there = work.side[1 - f];
    if (there.kind == Event::enter) {
      put(basis, work.x[f], f, f == 0 ? cp : rp, there.which, there.sign, there.sign * here.t0, there.sign * here.t1);
    } else if (here.kind == Event::leave && neither && here.which < m - 1) {
      // The last index takes the place of the one that is gone.
      const Index last = m - 1;
      put(basis, work.x[f], f, here.which, basis.idx[f][last], basis.sgn[f][last], work.x[f].value[last],
          work.x[f].slope[last]);
    }
  }
  if (neither) {
    shrink(basis, m, which0, which1);
    return m - 1;
  }
  return both ? m + 1 : m;
}

}  // namespace keyhole::dantzig
