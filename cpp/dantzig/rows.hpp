// Products with H, read row by row.
//
// A row is kept at a place of its own, or is kAbsent (the caller must build it first), or kListed: it is read off the log
// of rounds, in which position n belongs to one attribute of one round and link[n] = (next position of that attribute,
// start of the round in B, its size, start of the row in h).
#pragma once

#include <span>

#include "dantzig/basis.hpp"
#include "linalg/matrix.hpp"

namespace keyhole::dantzig {

inline constexpr Index kAbsent = -1;
inline constexpr Index kListed = -2;

// Where the rows of H are.
struct Store {
  linalg::ConstMatrixView columns;  // its rows are columns of H (side 0); for a symmetric H the same as `rows`
  linalg::ConstMatrixView rows;     // its rows are rows of H (side 1)
  std::span<const Index> place;     // (d) the place of row j in both, or kAbsent or kListed
  std::span<const Index> first;     // (d) the first position of attribute j in the log
  linalg::BasicMatrixView<const Index> link;  // (n, 4) the log's positions
  std::span<const Index> B;         // the attributes of the rounds, one round after the other
  std::span<const double> h;        // their h, row by row
};

// out += a row_j.
void add_row(const Store& store, int side, Index j, double a, std::span<double> out);

// out += sign sum_{i < m} a_i row(idx_i).
void add_rows(const Store& store, int side, std::span<const Index> idx, std::span<const double> a, Index m, double sign,
              std::span<double> out);

}  // namespace keyhole::dantzig
