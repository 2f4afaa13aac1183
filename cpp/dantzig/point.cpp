#include "dantzig/point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/multiversion.hpp"
#include "linalg/vector.hpp"

namespace keyhole::dantzig {

namespace {

using linalg::largest_abs;

// The residual of the basic solve, before its refinement, above which the inverse has to be computed anew.
constexpr double kAccuracy = 1e-7;
// A row is missed if its residual exceeds its bound by this share of the terms that cancel in it.
constexpr double kRowTolerance = 1e-7;
// Relative tolerances of coefficients, of primal residuals (of |b|_inf), of dual residuals (of 1).
constexpr double kTolX = 1e-11;
constexpr double kTolPrimal = 1e-11;
constexpr double kTolDual = 1e-10;
constexpr double kRounding = 1e-14;
constexpr double kTiny = 1e-300;

void times(int side, linalg::ConstMatrixView M, Index m, std::span<const double> v, std::span<double> out) {
  if (side == 0) {
    linalg::times(M, m, v, out);
  } else {
    linalg::times_transposed(M, m, v, out);
  }
}

// Solves G x = v_0 (side 0) or G' x = v_0 (side 1) with one step of refinement. Returns how far off the first try was,
// relative to v_0.
double solve_basis(int side, const Basis& basis, Index m, std::vector<double> (&v)[4], std::span<double> x) {
  for (Index i = 0; i < m; ++i) {
    v[1][i] = v[0][i];
    x[i] = 0.0;
  }
  times(side, basis.G_inv, m, v[1], v[2]);
  for (Index i = 0; i < m; ++i) x[i] += v[2][i];
  times(side, basis.G, m, x, v[1]);
  double off = 0.0;
  for (Index i = 0; i < m; ++i) {
    v[1][i] = v[0][i] - v[1][i];
    off += std::abs(v[1][i]);  // the sum, unlike a maximum, is NaN if anything is
  }
  times(side, basis.G_inv, m, v[1], v[2]);
  for (Index i = 0; i < m; ++i) x[i] += v[2][i];
  return off / largest_abs(std::span<const double>(v[0]).first(m), kTiny);
}

// Whether a constraint seems missed in its own units. The caller finds out, from what cancels in it, whether it is.
KEYHOLE_MULTIVERSION
bool seems_missed(std::span<const double> b, std::span<const double> gamma, std::span<const double> r) {
  bool found = false;
  for (std::size_t t = 0; t < b.size(); ++t) {
    found |= std::abs(r[t]) - gamma[t] > kRowTolerance * (std::abs(b[t]) + gamma[t] + std::abs(b[t] - r[t]));
  }
  return found;
}

// Whether w at place i is what rounding leaves of terms that cancel: left as it is, it would count as a discovery.
bool is_rounding(const Basis& basis, const Work& work, Index m, std::span<const double> b, Index i) {
  const double w_i = std::abs(work.x[0].value[i]);
  if (w_i > work.side[0].tol_x) return false;
  double terms = 0.0;
  for (Index n = 0; n < m; ++n) {
    const Index r = basis.idx[1][n];
    terms += std::abs(basis.G_inv(i, n)) * (std::abs(b[r]) + work.c[0].value[r]);
  }
  return w_i <= kRounding * terms;
}

// By how much the worst coefficient is on the wrong side of 0.
double wrong_sign(std::span<const double> sgn, std::span<const double> x, Index m) {
  double worst = 0.0;
  for (Index i = 0; i < m; ++i) {
    if (sgn[i] * x[i] < -worst) worst = -sgn[i] * x[i];
  }
  return worst;
}

}  // namespace

void set_tolerances(Work& work, Index m) {
  auto& [primal, dual] = work.side;
  primal.size_x = largest_abs(work.x[0].value.first(m), kTiny);
  dual.size_x = largest_abs(work.x[1].value.first(m), kTiny);
  primal.tol_x = std::max(kTolX * primal.size_x, kRounding * work.path.b_max * dual.size_x);
  dual.tol_x = kTolX * dual.size_x;
  primal.tol_z = kTolPrimal * work.path.b_max;
  dual.tol_z = kTolDual;
}

Verdict evaluate(const Store& store, const Basis& basis, Work& work, Index m, std::span<const double> b) {
  work.path.b_max = largest_abs(b, 0.0);
  if (linalg::largest_excess(b, work.c[0].value) == 0.0) return Verdict::zero;
  std::ranges::copy(b, work.z[0].value.begin());
  std::ranges::fill(work.z[1].value, 0.0);
  for (int f = 0; f < 2; ++f) {
    const auto& c = work.c[f].value;
    for (Index i = 0; i < m; ++i) {  // b_R - sg Gamma_R, or th cost_A
      const Index j = basis.idx[1 - f][i];
      work.v[0][i] = (1 - f) * b[j] + (2 * f - 1) * basis.sgn[1 - f][i] * c[j];
    }
    if (!(solve_basis(f, basis, m, work.v, work.x[f].value) < kAccuracy)) return Verdict::stale;
    add_rows(store, f, basis.idx[f], work.x[f].value, m, 2.0 * f - 1.0, work.z[f].value);
    work.side[f].excess = linalg::largest_excess(work.z[f].value, c);
  }
  set_tolerances(work, m);
  for (int f = 0; f < 2; ++f) {
    const Side& side = work.side[f];
    if (side.excess > side.tol_z || wrong_sign(basis.sgn[f], work.x[f].value, m) > side.tol_x) return Verdict::open;
  }
  return Verdict::optimal;
}

void report(const Basis& basis, Work& work, Index m, std::span<const double> b, double scale, std::span<double> w,
            std::span<double> l) {
  double total = 0.0;
  double bound = 0.0;
  for (Index i = 0; i < m; ++i) {
    const Index j = basis.idx[0][i];
    const Index r = basis.idx[1][i];
    const double w_j = is_rounding(basis, work, m, b, i) ? 0.0 : work.x[0].value[i];
    const double l_r = work.x[1].value[i];
    w[j] = w_j;
    l[r] = scale * l_r;
    total += work.c[1].value[j] * std::abs(w_j);
    bound += b[r] * l_r - work.c[0].value[r] * std::abs(l_r);
  }
  work.path.objective = total;
  work.path.gap = std::abs(total - bound) / (total > 1.0 ? total : 1.0);
  work.side[0].excess /= scale > work.path.b_max ? scale : work.path.b_max;
  if (seems_missed(b, work.c[0].value, work.z[0].value)) {
    work.side[0].excess = std::numeric_limits<double>::infinity();
  }
}

}  // namespace keyhole::dantzig
