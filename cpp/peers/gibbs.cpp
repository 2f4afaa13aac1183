#include "peers/gibbs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/cholesky.hpp"
#include "linalg/vector.hpp"

namespace keyhole::peers {

namespace {

// On the diagonal of R_BB, so that attributes that are nearly copies do not blow up.
constexpr double kJitter = 1e-3;

linalg::SquareMatrix block(linalg::ConstMatrixView R, std::span<const Index> B) {
  const auto n = static_cast<Index>(B.size());
  linalg::SquareMatrix A(n);
  for (Index i = 0; i < n; ++i) {
    for (Index e = 0; e < n; ++e) A.view()(i, e) = R(B[i], B[e]) + (i == e ? kJitter : 0.0);
  }
  return A;
}

std::vector<double> gather(std::span<const double> v, std::span<const Index> B) {
  std::vector<double> out;
  out.reserve(B.size());
  for (const Index j : B) out.push_back(v[j]);
  return out;
}

// w_j = value, and g = G w with it.
void set_effect(const Posterior& p, Index j, double value) {
  const double step = value - p.w[j];
  p.w[j] = value;
  for (std::size_t h = 0; h < p.w.size(); ++h) p.g[h] += p.G(static_cast<Index>(h), j) * step;
}

// One of the attributes without an effect, by how well an effect there would fit.
Index draw_place(const Posterior& p, std::span<const double> seen, double tau, double u, std::span<double> fit) {
  const auto d = static_cast<Index>(p.w.size());
  double most = -std::numeric_limits<double>::infinity();
  std::ranges::fill(fit, most);
  for (Index h = 0; h < d; ++h) {
    if (p.w[h] == 0.0 && seen[h] > 0.0) {
      const double v = 1.0 / (p.G(h, h) + 1.0 / tau);
      const double off = p.b[h] - p.g[h];
      fit[h] = 0.5 * std::log(v / tau) + 0.5 * v * (off * off);
      most = std::max(most, fit[h]);
    }
  }
  double total = 0.0;
  for (double& fit_h : fit) {
    fit_h = std::exp(fit_h - most);
    total += fit_h;
  }
  double left = u * total;
  Index last = 0;
  for (Index h = 0; h < d; ++h) {
    if (fit[h] > 0.0) {
      last = h;
      left -= fit[h];
      if (left <= 0.0) break;
    }
  }
  return last;
}

std::vector<Index> active_effects(std::span<const double> w) {
  std::vector<Index> active;
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (w[j] != 0.0) active.push_back(static_cast<Index>(j));
  }
  return active;
}

}  // namespace

FilledRow fill_in(linalg::ConstMatrixView R, std::span<const double> c, std::span<const Index> B,
                  std::span<const double> z) {
  const linalg::SquareMatrix A = block(R, B);
  const std::vector<double> c_B = gather(c, B);
  FilledRow row{linalg::solve_spd(A.view(), z)};
  const std::vector<double> u = linalg::solve_spd(A.view(), c_B);
  for (std::size_t i = 0; i < B.size(); ++i) {
    row.f += c_B[i] * row.a[i];
    row.explained += c_B[i] * u[i];
  }
  return row;
}

void learn_row(linalg::ConstMatrixView R, const Posterior& p, std::span<const Index> B, std::span<const double> a,
               double r, double weight) {
  const auto d = static_cast<Index>(p.b.size());
  std::vector<double> z(p.b.size());
  double zw = 0.0;
  for (Index j = 0; j < d; ++j) {
    for (std::size_t i = 0; i < B.size(); ++i) z[j] += R(j, B[i]) * a[i];
    zw += z[j] * p.w[j];
  }
  for (Index j = 0; j < d; ++j) {
    p.b[j] += weight * r * z[j];
    p.g[j] += weight * zw * z[j];
    linalg::add_scaled(weight * z[j], z, p.G.row(j));
  }
}

NoiseSums normal_equations(linalg::ConstMatrixView R, linalg::BasicMatrixView<const Index> bought,
                           linalg::ConstMatrixView Z, std::span<const double> r, std::span<const double> w_bar,
                           double S2, linalg::MatrixView G, std::span<double> b) {
  const auto d = static_cast<Index>(b.size());
  const Index k = bought.cols;
  const auto T = static_cast<Index>(r.size());
  std::vector<double> c(b.size()), row(b.size());
  linalg::times(R, d, w_bar, c);
  double wRw = 0.0;
  for (Index j = 0; j < d; ++j) wRw += w_bar[j] * c[j];
  std::fill_n(G.data, d * d, 0.0);
  std::ranges::fill(b, 0.0);
  NoiseSums noise;
  Index t = 0;
  while (t < T) {
    Index n = 0;
    while (n < k && bought(t, n) >= 0) ++n;
    const auto B = bought.row(t).first(static_cast<std::size_t>(n));
    const linalg::SquareMatrix A = block(R, B);
    const std::vector<double> c_B = gather(c, B);
    const std::vector<double> fitted = linalg::solve_spd(A.view(), c_B);
    double explained = 0.0;
    for (Index i = 0; i < n; ++i) explained += c_B[i] * fitted[i];
    const double unseen = std::max(wRw - explained, 0.0);
    const double weight = 1.0 / (S2 + unseen);
    linalg::SquareMatrix Szz(n);
    std::vector<double> Szr(static_cast<std::size_t>(n));
    while (t < T && std::ranges::equal(bought.row(t).first(static_cast<std::size_t>(n)), B) &&
           (n == k || bought(t, n) < 0)) {
      double f = 0.0;
      for (Index i = 0; i < n; ++i) {
        f += fitted[i] * Z(t, i);
        Szr[i] += Z(t, i) * r[t];
        for (Index e = 0; e < n; ++e) Szz.view()(i, e) += Z(t, i) * Z(t, e);
      }
      const double share = (weight * S2) * (weight * S2);
      noise.numerator += share * ((r[t] - f) * (r[t] - f) - unseen);
      noise.denominator += share;
      ++t;
    }
    if (n == 0) continue;
    // M = R_.B R_BB^-1, kept transposed: G += weight M Szz M', b += weight M Szr.
    std::vector<double> M(static_cast<std::size_t>(n * d)), R_jB(static_cast<std::size_t>(n));
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < n; ++i) R_jB[i] = R(j, B[i]);
      const std::vector<double> column = linalg::solve_spd(A.view(), R_jB);
      for (Index i = 0; i < n; ++i) M[i * d + j] = column[i];
    }
    for (Index j = 0; j < d; ++j) {
      std::ranges::fill(row, 0.0);
      double total = 0.0;
      for (Index i = 0; i < n; ++i) {
        double coefficient = 0.0;  // (M Szz)_ji
        for (Index e = 0; e < n; ++e) coefficient += M[e * d + j] * Szz.view()(e, i);
        linalg::add_scaled(coefficient, std::span<const double>(M).subspan(i * d, d), row);
        total += M[i * d + j] * Szr[i];
      }
      linalg::add_scaled(weight, row, G.row(j));
      b[j] += weight * total;
    }
  }
  return noise;
}

void acquisition_scores(const Posterior& p, double tau, std::span<const double> normal, std::span<double> score) {
  for (std::size_t j = 0; j < p.w.size(); ++j) {
    const auto i = static_cast<Index>(j);
    const double v = 1.0 / (p.G(i, i) + 1.0 / tau);
    const double out = v * (p.b[j] - p.g[j]) + std::sqrt(v) * normal[j];
    score[j] = p.w[j] != 0.0 ? 1e6 * (p.w[j] * p.w[j]) : out * out;
  }
}

void gibbs_sweep(const Posterior& p, std::span<const double> seen, double tau, double odds,
                 std::span<const double> uniform, std::span<const double> normal, std::span<double> mean) {
  const auto d = static_cast<Index>(p.w.size());
  for (Index j = 0; j < d; ++j) {
    if (seen[j] == 0.0) continue;
    const double v = 1.0 / (p.G(j, j) + 1.0 / tau);
    const double m = v * (p.b[j] - p.g[j] + p.G(j, j) * p.w[j]);
    const double evidence = odds + 0.5 * std::log(v / tau) + 0.5 * m * m / v;
    double next = 0.0;
    if (uniform[j] < 1.0 / (1.0 + std::exp(-std::min(evidence, 50.0)))) next = m + std::sqrt(v) * normal[j];
    if (next != p.w[j]) set_effect(p, j, next);
  }
  std::vector<Index> active = active_effects(p.w);
  std::vector<double> fit(p.w.size());
  for (std::size_t i = 0; i < active.size(); ++i) {
    // An effect at random: going through them in order would not leave the posterior as it is.
    const auto e = static_cast<std::size_t>(uniform[2 * d + i] * static_cast<double>(active.size()));
    set_effect(p, active[e], 0.0);
    const Index h = draw_place(p, seen, tau, uniform[d + i], fit);
    const double v = 1.0 / (p.G(h, h) + 1.0 / tau);
    set_effect(p, h, v * (p.b[h] - p.g[h]) + std::sqrt(v) * normal[d + i]);
    active[e] = h;
  }
  std::ranges::fill(mean, 0.0);
  active = active_effects(p.w);
  const auto n = static_cast<Index>(active.size());
  linalg::SquareMatrix A(n);
  for (Index i = 0; i < n; ++i) {
    for (Index e = 0; e < n; ++e) A.view()(i, e) = p.G(active[i], active[e]) + (i == e ? 1.0 / tau : 0.0);
  }
  const std::vector<double> effects = linalg::solve_spd(A.view(), gather(p.b, active));
  for (Index i = 0; i < n; ++i) mean[active[i]] = effects[i];
}

}  // namespace keyhole::peers
