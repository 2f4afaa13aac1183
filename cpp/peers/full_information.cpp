#include "peers/full_information.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/multiversion.hpp"
#include "linalg/vector.hpp"
#include "newton/newton.hpp"

namespace keyhole::peers {

namespace {

// How much noise, in units of the signal, slows the steps of `rda_epoch` down.
constexpr double kNoisy = 1.5;
// The problem of a round of `olin_lasso_epoch` is solved until no gradient is off by more than this.
constexpr double kLassoTolerance = 1e-10;
constexpr Index kLassoSweeps = 1000;
// I-LAMM, the authors' constants: first curvature, its growth, the stages' tolerance, the most iterations of a loop, and
// the shapes of the penalties.
constexpr double kCurvature = 1e-3;
constexpr double kGrowth = 1.5;
constexpr double kStageTolerance = 1e-4;
constexpr int kMostIterations = 500;
constexpr double kScad = 3.7;
constexpr double kMcp = 3.0;

double dot(std::span<const double> a, std::span<const double> b) {
  double total = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

double largest(std::span<const double> v) { return linalg::largest_abs(v, 0.0); }

// sign(u) max(|u| - m, 0).
double soft(double u, double m) { return u > m ? u - m : u < -m ? u + m : 0.0; }

// out = M v for a square M.
std::vector<double> product(linalg::ConstMatrixView M, std::span<const double> v) {
  std::vector<double> out(v.size());
  linalg::times(M, M.rows, v, out);
  return out;
}

void add_row(const NormalEquations& sums, std::span<const double> x, double y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums.Xy[i] += y * x[i];
    linalg::add_scaled(x[i], x, sums.XX.row(static_cast<Index>(i)));
  }
}

// The root mean square of the errors with e among them; `tally` = (how many, sum of squares).
double add_error(std::span<double> tally, double e) {
  tally[0] += 1.0;
  tally[1] += e * e;
  return std::sqrt(tally[1] / tally[0]);
}

// w_G = -reach [1 - lam_t sqrt(d_G) / |g_bar_G|]_+ g_bar_G for every group; a group of one soft-thresholds.
void shrink_groups(const DualAverage& s, std::span<double> norms, double lam_t, double reach) {
  std::ranges::fill(norms, 0.0);
  for (std::size_t i = 0; i < s.w.size(); ++i) norms[s.group[i]] += s.g_bar[i] * s.g_bar[i];
  for (std::size_t i = 0; i < s.w.size(); ++i) {
    const double norm = std::sqrt(norms[s.group[i]]);
    const double threshold = lam_t * std::sqrt(static_cast<double>(s.group_size[s.group[i]]));
    s.w[i] = norm <= threshold ? 0.0 : -reach * (1.0 - threshold / norm) * s.g_bar[i];
  }
}

// v'Gv/2 - b'v + lam |v|_1.
double lasso_objective(linalg::ConstMatrixView G, std::span<const double> b, double lam, std::span<const double> v) {
  double size = 0.0;
  for (const double v_i : v) size += std::abs(v_i);
  return 0.5 * dot(v, product(G, v)) - dot(b, v) + lam * size;
}

// sqrt(|a - b|^2 / (d + 1)).
double change(std::span<const double> a, std::span<const double> b) {
  double total = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) total += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(total / static_cast<double>(a.size() + 1));
}

// beta+ = soft(beta - grad/phi, Lambda/phi), phi grown until the isotropic quadratic lies above the loss there.
std::vector<double> lamm_step(linalg::ConstMatrixView G, std::span<const double> b, std::span<const double> Lambda,
                              std::span<const double> beta, double& phi) {
  std::vector<double> grad = product(G, beta);
  std::vector<double> next(beta.size()), step(beta.size());
  for (std::size_t i = 0; i < b.size(); ++i) grad[i] -= b[i];
  while (true) {
    for (std::size_t i = 0; i < beta.size(); ++i) {
      next[i] = soft(beta[i] - grad[i] / phi, Lambda[i] / phi);
      step[i] = next[i] - beta[i];
    }
    // For least squares, loss(next) - loss(beta) - <grad, step> is exactly step'G step / 2. "not >" ends on NaN too.
    if (!(dot(step, product(G, step)) > phi * dot(step, step))) return next;
    phi *= kGrowth;
  }
}

// The weighted l1 problem min v'Gv/2 - b'v + sum Lambda_i |v_i|, from beta, by LAMM steps.
void ilamm_stage(linalg::ConstMatrixView G, std::span<const double> b, std::span<const double> Lambda,
                 std::vector<double>& beta, double tolerance) {
  double phi = kCurvature;
  for (int i = 0; i < kMostIterations; ++i) {
    std::vector<double> next = lamm_step(G, b, Lambda, beta, phi);
    const double moved = change(next, beta);
    beta.swap(next);
    if (moved <= tolerance) break;
    phi = std::max(kCurvature, phi / kGrowth);
  }
}

// p'_lam(|beta_i|): the weight that the penalty leaves on an entry of this size.
double penalty_slope(double size, double lam, bool mcp) {
  if (mcp) return std::max(lam - size / kMcp, 0.0);
  return std::min(lam, std::max(kScad * lam - size, 0.0) / (kScad - 1.0));
}

}  // namespace

KEYHOLE_MULTIVERSION
void vaw_epoch(linalg::MatrixView A_inv, std::span<double> b, linalg::ConstMatrixView X, std::span<const double> y,
               std::span<double> y_hat) {
  const std::size_t d = b.size();
  std::vector<double> v(d);
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto x = X.row(static_cast<Index>(t));
    std::ranges::fill(v, 0.0);
    for (std::size_t j = 0; j < d; ++j) {  // by rows of the symmetric A^-1: this order vectorises
      const auto row = A_inv.row(static_cast<Index>(j));
      for (std::size_t i = 0; i < d; ++i) v[i] += row[i] * x[j];
    }
    const double xv = 1.0 + newton::quadratic_form(A_inv, v, x);
    y_hat[t] = dot(v, b) / xv;
    if (std::isnan(y[t])) continue;
    for (std::size_t i = 0; i < d; ++i) {
      b[i] += y[t] * x[i];
      const auto row = A_inv.row(static_cast<Index>(i));
      for (std::size_t j = 0; j < d; ++j) row[j] -= v[i] * v[j] / xv;  // the same number at (i, j) and (j, i)
    }
  }
}

void rda_epoch(const DualAverage& s, linalg::ConstMatrixView X, std::span<const double> y, std::span<double> y_hat) {
  const auto d = static_cast<double>(s.w.size());
  std::vector<double> norms(s.group_size.size());
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto x = X.row(static_cast<Index>(t));
    double u = dot(s.w, x);
    if (s.practical) u = std::min(std::max(u, -s.tally[2]), s.tally[2]);
    y_hat[t] = u;
    if (std::isnan(y[t])) continue;
    s.tally[0] += 1.0;
    s.tally[1] += (dot(x, x) - s.tally[1]) / s.tally[0];
    s.tally[2] = std::max(s.tally[2], std::abs(y[t]));
    for (std::size_t i = 0; i < x.size(); ++i) {
      s.g_bar[i] += (2.0 * (u - y[t]) * x[i] - s.g_bar[i]) / s.tally[0];
    }
    double gamma_t = s.gamma * std::sqrt(d);
    double lam_t = s.lam + s.gamma * std::sqrt(d) * s.rho / std::sqrt(s.tally[0]);
    if (s.practical) {
      const double r = add_error(s.errors, u - y[t]);
      s.errors[2] += y[t] * y[t];
      const double signal = std::max(s.errors[2] - s.errors[1], 0.01 * s.errors[2]);
      const double v = s.tally[1] / d;
      lam_t = std::sqrt(v) *
              (s.lam * r + gamma_t * s.rho * std::sqrt(s.errors[2] / s.errors[0]) / std::sqrt(s.tally[0]));
      gamma_t *= v * (signal > 0.0 ? 1.0 + kNoisy * std::sqrt(s.errors[1] / signal) : 1.0);
    }
    // Else every row so far was zero, and so is w.
    if (gamma_t > 0.0) shrink_groups(s, norms, lam_t, std::sqrt(s.tally[0]) / gamma_t);
  }
}

void lasso(linalg::ConstMatrixView G, std::span<const double> c, double lam, std::span<double> v, double tolerance,
           Index sweeps) {
  std::vector<double> residual = product(G, v);
  for (std::size_t i = 0; i < c.size(); ++i) residual[i] = c[i] - residual[i];
  for (Index sweep = 0; sweep < sweeps; ++sweep) {
    double worst = 0.0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto row = G.row(static_cast<Index>(i));
      if (row[i] <= 0.0) continue;
      const double next = soft(residual[i] + row[i] * v[i], lam) / row[i];
      const double step = next - v[i];
      if (step == 0.0) continue;
      worst = std::max(worst, std::abs(step) * row[i]);
      v[i] = next;
      linalg::add_scaled(-step, row, residual);
    }
    if (worst <= tolerance) return;
  }
}

Index olin_lasso_epoch(std::span<double> theta, const NormalEquations& sums, linalg::MatrixView G0, Index n,
                       linalg::ConstMatrixView X, std::span<const double> y, Index n0, double scale,
                       std::span<double> y_hat) {
  const auto d = static_cast<Index>(theta.size());
  const std::size_t entries = theta.size() * theta.size();
  std::vector<double> gram(entries), b(theta.size()), c(theta.size()), next(theta.size());
  const linalg::MatrixView G(gram.data(), d, d);
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto x = X.row(static_cast<Index>(t));
    y_hat[t] = dot(theta, x);
    if (std::isnan(y[t])) continue;
    n += 1;
    const auto rows = static_cast<double>(n);
    add_row(sums, x, y[t]);
    const double r = add_error(sums.tally, y_hat[t] - y[t]);
    for (std::size_t i = 0; i < entries; ++i) gram[i] = sums.XX.data[i] / rows;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = sums.Xy[i] / rows;
    const double lam = (scale >= 0.0 ? scale : -scale * r) / std::sqrt(rows);
    if (n <= n0) std::ranges::copy(gram, G0.data);
    // The linear term is that of theta_{t-1}, taken once before the solver moves: c = b - (G - G0) theta_{t-1}.
    for (Index i = 0; i < d; ++i) {
      const auto row = G.row(i);
      const auto row0 = G0.row(i);
      double total = 0.0;
      for (Index j = 0; j < d; ++j) total += (row[j] - row0[j]) * theta[j];
      c[i] = b[i] - total;
    }
    std::ranges::copy(theta, next.begin());
    lasso(G0, c, lam, next, kLassoTolerance, kLassoSweeps);
    if (lasso_objective(G, b, lam, next) <= lasso_objective(G, b, lam, theta) + 1e-12) {
      std::ranges::copy(next, theta.begin());
    } else {
      // Deviation: a batch whose step would raise the running objective is replaced by all rows so far (our guard; then
      // the step is the batch LASSO, which cannot raise it).
      std::ranges::copy(gram, G0.data);
      lasso(G0, b, lam, theta, kLassoTolerance, kLassoSweeps);
    }
  }
  return n;
}

void fit_ilamm(linalg::ConstMatrixView G, std::span<const double> b, double lam, bool mcp, double tolerance,
               std::span<double> beta) {
  std::vector<double> now(b.size()), Lambda(b.size(), lam);
  ilamm_stage(G, b, Lambda, now, tolerance);
  for (int i = 0; i < kMostIterations; ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) Lambda[j] = penalty_slope(std::abs(now[j]), lam, mcp);
    std::vector<double> next = now;
    ilamm_stage(G, b, Lambda, next, tolerance);
    const double moved = change(next, now);
    now.swap(next);
    if (moved <= tolerance) break;
  }
  std::ranges::copy(now, beta.begin());
}

Index ilamm_epoch(std::span<double> beta, const NormalEquations& sums, Index n, linalg::ConstMatrixView X,
                  std::span<const double> y, double scale, double share, bool mcp, std::span<double> y_hat) {
  const auto d = static_cast<Index>(beta.size());
  std::vector<double> gram, b(beta.size());
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto x = X.row(static_cast<Index>(t));
    y_hat[t] = dot(beta, x);
    if (std::isnan(y[t])) continue;
    n += 1;
    add_row(sums, x, y[t]);
    const double r = add_error(sums.tally, y_hat[t] - y[t]);
    if ((n & (n - 1)) != 0) continue;
    const auto rows = static_cast<double>(n);
    gram.assign(sums.XX.data, sums.XX.data + d * d);
    for (double& g : gram) g /= rows;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = sums.Xy[i] / rows;
    const double lam = std::max((scale >= 0.0 ? scale : -scale * r) / std::sqrt(rows), share * largest(b));
    fit_ilamm({gram.data(), d, d}, b, lam, mcp, kStageTolerance, beta);
  }
  return n;
}

}  // namespace keyhole::peers
