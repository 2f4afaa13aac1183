// Running moments of whatever was bought: per column (Welford), and per pair of attributes.
#pragma once

#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::peers {

using linalg::Index;

// How many values, their mean, and the sum of their squared deviations from it. A record of the state.
struct Column {
  double n;
  double m;
  double squares;
};

// Row by row: z_i = clip((x_i - m_i) / (3 s_i), -1, 1) and u = (y - m_y) / (3 s_y) by what the columns (the label's is the
// last) were so far; then they take in the row, if it has a label. `centre` and `width` scale a prediction back.
void standardise(std::span<Column> columns, linalg::ConstMatrixView X, std::span<const double> y, linalg::MatrixView Z,
                 std::span<double> labels, std::span<double> centre, std::span<double> width);

// Sums over the rows that saw an attribute, over those that saw both of a pair, and of the labels. In all but `y` of the
// labels x and y are less their first values.
struct AttributeSums {
  double n, x, xx, y, xy;
};
struct PairSums {
  double n, x, xx;
};
struct LabelSums {
  double n, y, yy, first, low, high;
};
struct PairwiseSums {
  std::span<AttributeSums> attributes;     // (d)
  std::span<double> first;                 // (d) the attributes' first values
  linalg::BasicMatrixView<PairSums> pairs; // (d, d)
  LabelSums& label;
};

// Adds a row that saw x on B.
void add_pairwise(const PairwiseSums& sums, std::span<const Index> B, std::span<const double> x, double y);

// Means mu, standard deviations sd (0 for an attribute that does not vary), covariances c of each attribute in units of
// its sd with the label, and correlations R_ij shrunk by N/(N + 1/tau^2), tau^2 the spread of the true correlations by
// empirical Bayes.
void fit_pairwise(const PairwiseSums& sums, std::span<double> mu, std::span<double> sd, linalg::MatrixView R,
                  std::span<double> c);

}  // namespace keyhole::peers
