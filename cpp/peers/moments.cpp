#include "peers/moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace keyhole::peers {

namespace {

// A column within +-3 deviations fills [-1, 1].
constexpr double kWidth = 3.0;

double spread(const Column& column) { return column.n > 1.0 ? kWidth * std::sqrt(column.squares / column.n) : 0.0; }

void take(Column& column, double value) {
  column.n += 1.0;
  const double off = value - column.m;
  column.m += off / column.n;
  column.squares += off * (value - column.m);
}

}  // namespace

void standardise(std::span<Column> columns, linalg::ConstMatrixView X, std::span<const double> y, linalg::MatrixView Z,
                 std::span<double> labels, std::span<double> centre, std::span<double> width) {
  const auto k = static_cast<std::size_t>(X.cols);
  Column& label = columns[k];
  for (std::size_t t = 0; t < y.size(); ++t) {
    const auto x = X.row(static_cast<Index>(t));
    const auto z = Z.row(static_cast<Index>(t));
    for (std::size_t i = 0; i < k; ++i) {
      const double s = spread(columns[i]);
      const bool known = s > 0.0 && !std::isnan(x[i]);
      z[i] = known ? std::min(std::max((x[i] - columns[i].m) / s, -1.0), 1.0) : 0.0;
    }
    centre[t] = label.m;
    width[t] = spread(label);
    labels[t] = width[t] > 0.0 ? (y[t] - centre[t]) / width[t] : std::numeric_limits<double>::quiet_NaN();
    if (std::isnan(y[t])) continue;
    take(label, y[t]);
    for (std::size_t i = 0; i < k; ++i) {
      if (!std::isnan(x[i])) take(columns[i], x[i]);
    }
  }
}

void add_pairwise(const PairwiseSums& sums, std::span<const Index> B, std::span<const double> x, double y) {
  LabelSums& label = sums.label;
  if (label.n == 0.0) label.first = label.low = label.high = y;
  const double v = y - label.first;
  label.n += 1.0;
  label.y += y;
  label.yy += v * v;
  label.low = std::min(label.low, y);
  label.high = std::max(label.high, y);
  for (std::size_t i = 0; i < B.size(); ++i) {
    AttributeSums& me = sums.attributes[B[i]];
    if (me.n == 0.0) sums.first[B[i]] = x[i];
    const double u = x[i] - sums.first[B[i]];
    me.n += 1.0;
    me.x += u;
    me.xx += u * u;
    me.y += v;
    me.xy += u * v;
  }
  for (std::size_t i = 0; i < B.size(); ++i) {
    const double u = x[i] - sums.first[B[i]];
    for (std::size_t e = 0; e < B.size(); ++e) {
      if (e == i) continue;
      PairSums& both = sums.pairs(B[i], B[e]);
      both.n += 1.0;
      both.x += u;
      both.xx += u * (x[e] - sums.first[B[e]]);
    }
  }
}

void fit_pairwise(const PairwiseSums& sums, std::span<double> mu, std::span<double> sd, linalg::MatrixView R,
                  std::span<double> c) {
  const auto d = static_cast<Index>(mu.size());
  for (Index j = 0; j < d; ++j) {
    const AttributeSums& me = sums.attributes[j];
    const double n = me.n;
    c[j] = 0.0;
    if (n > 1) {
      mu[j] = me.x / n;
      const double square = me.xx / n;
      sd[j] = std::sqrt(std::max(square - mu[j] * mu[j], 0.0));
      if (sd[j] < 1e-7 * std::sqrt(std::max(square, 1e-300))) sd[j] = 0.0;
    }
    if (n > 2 && sd[j] > 0.0) c[j] = (me.xy - mu[j] * me.y) / n / sd[j] * n / (n + 1.0);
  }
  // The prior of tau^2: 1/8 with the weight of 50 pairs.
  double top = 50.0 / 8.0;
  double bottom = 50.0;
  for (Index i = 0; i < d; ++i) {
    R(i, i) = 1.0;
    for (Index j = 0; j < i; ++j) {
      const PairSums& both = sums.pairs(i, j);
      const double N = both.n;
      double r = 0.0;
      if (N > 2 && sd[i] > 0.0 && sd[j] > 0.0) {
        const double cross = both.xx - mu[i] * sums.pairs(j, i).x - mu[j] * both.x + N * mu[i] * mu[j];
        r = std::min(0.98, std::max(-0.98, cross / N / (sd[i] * sd[j])));
        if (N >= 4) {
          const double weight = std::min(N, 200.0);
          top += weight * (r * r - 1.0 / N);
          bottom += weight;
        }
      }
      R(i, j) = r;
    }
  }
  const double tau2 = std::min(1.0, std::max(top / bottom, 1e-3));
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < i; ++j) {
      R(i, j) *= sums.pairs(i, j).n / (sums.pairs(i, j).n + 1.0 / tau2);
      R(j, i) = R(i, j);
    }
  }
}

}  // namespace keyhole::peers
