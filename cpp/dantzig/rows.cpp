#include "dantzig/rows.hpp"

#include "linalg/vector.hpp"

namespace keyhole::dantzig {

namespace {

// out += a row_j, term by term in the order of the log.
void add_listed(const Store& store, Index j, double a, std::span<double> out) {
  for (Index n = store.first[j]; n >= 0; n = store.link(n, 0)) {
    const Index start = store.link(n, 1);
    const Index size = store.link(n, 2);
    const Index row = store.link(n, 3);
    for (Index i = 0; i < size; ++i) out[store.B[start + i]] += a * store.h[row + i];
  }
}

}  // namespace

void add_row(const Store& store, int side, Index j, double a, std::span<double> out) {
  const Index place = store.place[j];
  if (place == kListed) {
    add_listed(store, j, a, out);
  } else {
    linalg::add_scaled(a, (side == 0 ? store.columns : store.rows).row(place), out);
  }
}

void add_rows(const Store& store, int side, std::span<const Index> idx, std::span<const double> a, Index m, double sign,
              std::span<double> out) {
  const auto& C = side == 0 ? store.columns : store.rows;
  const auto& place = store.place;
  Index i = 0;
  while (i < m) {
    if (i + 4 <= m && (place[idx[i]] | place[idx[i + 1]] | place[idx[i + 2]] | place[idx[i + 3]]) >= 0) {
      const double scaled[4] = {sign * a[i], sign * a[i + 1], sign * a[i + 2], sign * a[i + 3]};
      const double* const rows[4] = {C.row(place[idx[i]]).data(), C.row(place[idx[i + 1]]).data(),
                                     C.row(place[idx[i + 2]]).data(), C.row(place[idx[i + 3]]).data()};
      linalg::add_four_scaled(scaled, rows, out);
      i += 4;
    } else {
      add_row(store, side, idx[i], sign * a[i], out);
      i += 1;
    }
  }
}

}  // namespace keyhole::dantzig
