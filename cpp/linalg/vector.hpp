// Loops over long vectors: sums of rows, largest entries.
#pragma once

#include <cstddef>
#include <span>

#include "linalg/matrix.hpp"

namespace keyhole::linalg {

// y += a x.
void add_scaled(double a, std::span<const double> x, std::span<double> y);

// y += a0 x0 + a1 x1 + a2 x2 + a3 x3: one pass over y instead of four, which takes half the time.
void add_four_scaled(const double (&a)[4], const double* const (&x)[4], std::span<double> y);

// max(start, |v_0|, |v_1|, ...). An entry that is NaN is ignored.
double largest_abs(std::span<const double> v, double start);

// max(0, max_t |z_t| - c_t). An entry that is NaN is ignored.
double largest_excess(std::span<const double> z, std::span<const double> c);

// out = M v for the leading m x m block of M.
void times(ConstMatrixView M, Index m, std::span<const double> v, std::span<double> out);

// out = M' v for the leading m x m block of M, reading rows of M.
void times_transposed(ConstMatrixView M, Index m, std::span<const double> v, std::span<double> out);

// M -= u v' / p on the leading m x m block.
void subtract_outer(MatrixView M, Index m, std::span<const double> u, std::span<const double> v, double p);

}  // namespace keyhole::linalg
