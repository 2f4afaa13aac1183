// A row-major matrix that the caller owns, beside std::span for vectors. With KEYHOLE_BOUNDS_CHECK (make sanitize) every
// access is checked; std::span is checked there too, by the standard library's own assertions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <type_traits>

namespace keyhole::linalg {

using Index = std::int64_t;

#ifdef KEYHOLE_BOUNDS_CHECK
inline void check_index(Index i, Index n) {
  if (i >= 0 && i < n) return;
  std::fprintf(stderr, "keyhole._core: index %lld is out of bounds for size %lld\n", static_cast<long long>(i),
               static_cast<long long>(n));
  std::abort();
}
#else
inline void check_index(Index, Index) {}
#endif

template <class T> struct BasicMatrixView {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;

  BasicMatrixView() = default;
  BasicMatrixView(T* data_, Index rows_, Index cols_) : data(data_), rows(rows_), cols(cols_) {}
  template <class U>
    requires(std::is_convertible_v<U (*)[], T (*)[]> && !std::is_same_v<U, T>)
  BasicMatrixView(BasicMatrixView<U> m) : data(m.data), rows(m.rows), cols(m.cols) {}

  T& operator()(Index i, Index j) const {
    check_index(i, rows);
    check_index(j, cols);
    return data[i * cols + j];
  }
  std::span<T> row(Index i) const {
    check_index(i, rows);
    return {data + i * cols, static_cast<std::size_t>(cols)};
  }
};

using MatrixView = BasicMatrixView<double>;
using ConstMatrixView = BasicMatrixView<const double>;

}  // namespace keyhole::linalg
