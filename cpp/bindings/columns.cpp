#include "columns/scan.hpp"

#include "bindings/areas.hpp"
#include "bindings/arrays.hpp"

namespace keyhole::bindings {

namespace {

nb::tuple count_extremes(const ConstVector& x, double largest, double most, double least) {
  columns::Extremes found;
  {
    const auto values = span(x);
    nb::gil_scoped_release release;
    found = columns::count_extremes(values, largest, most, least);
  }
  return nb::make_tuple(found.beyond, found.extreme);
}

void count_outside(const ConstVector& x, const ConstIndices& which, const ConstVector& low, const ConstVector& high,
                   const Indices& seen, const Indices& outside, const Vector& smallest, const Vector& largest) {
  const std::size_t n = low.shape(0);
  require(x.shape(0) == which.shape(0), "x and columns do not fit together");
  require(high.shape(0) == n && seen.shape(0) == n && outside.shape(0) == n && smallest.shape(0) == n &&
              largest.shape(0) == n,
          "the counts do not fit together");
  for (const auto i : span(which)) require(i >= 0 && i < static_cast<std::int64_t>(n), "no such column");
  const columns::RangeCounts counts{span(low), span(high), span(seen), span(outside), span(smallest), span(largest)};
  const auto values = span(x);
  const auto columns_ = span(which);
  nb::gil_scoped_release release;
  columns::count_outside(values, columns_, counts);
}

}  // namespace

void bind_columns(nb::module_& m) {
  m.def("count_extremes", &count_extremes, array("x"), nb::arg("largest"), nb::arg("most"), nb::arg("least"),
        "(how many |x| > largest, how many > most or below least and not +0).");
  m.def("count_outside", &count_outside, array("x"), array("columns"), array("low"), array("high"), array("seen"),
        array("outside"), array("smallest"), array("largest"), "Take note of the finite values x of these columns.");
}

}  // namespace keyhole::bindings
