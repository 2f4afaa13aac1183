// Small symmetric positive definite systems.
#pragma once

#include <span>
#include <vector>

#include "linalg/matrix.hpp"

namespace keyhole::linalg {

// A square matrix that owns its numbers, for scratch.
struct SquareMatrix {
  explicit SquareMatrix(Index n) : size(n), numbers(static_cast<std::size_t>(n * n)) {}
  MatrixView view() { return {numbers.data(), size, size}; }
  ConstMatrixView view() const { return {numbers.data(), size, size}; }

  Index size;
  std::vector<double> numbers;
};

// A^-1 c by Cholesky. A pivot is at least 1e-12 of its diagonal, so that nearly singular systems have an answer.
std::vector<double> solve_spd(ConstMatrixView A, std::span<const double> c);

}  // namespace keyhole::linalg
