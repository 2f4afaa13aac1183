// How numpy arrays reach the kernels: checked types at the edge, std::span and linalg::MatrixView inside.
//
// An array argument is a view of memory that numpy owns: nothing is copied or converted, so a wrong dtype, dimension or
// order is a TypeError instead of a silent copy. Binding functions read every size before they release the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "linalg/matrix.hpp"

namespace keyhole::bindings {

namespace nb = nanobind;

template <class T> using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Vector = Array1<double>;
using ConstVector = Array1<const double>;
using Matrix = Array2<double>;
using ConstMatrix = Array2<const double>;
using Indices = Array1<std::int64_t>;
using ConstIndices = Array1<const std::int64_t>;

template <class T> std::span<T> span(const Array1<T>& a) {
  return {a.data(), a.shape(0)};
}

template <class T> linalg::BasicMatrixView<T> matrix(const Array2<T>& a) {
  return {a.data(), static_cast<std::int64_t>(a.shape(0)), static_cast<std::int64_t>(a.shape(1))};
}

// Raises ValueError unless `ok`: sizes that do not fit together are the caller's error, never memory we do not own.
inline void require(bool ok, const char* what) {
  if (!ok) throw std::invalid_argument(what);
}

}  // namespace keyhole::bindings
