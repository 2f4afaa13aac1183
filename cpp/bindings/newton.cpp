#include "newton/newton.hpp"

#include "bindings/areas.hpp"
#include "bindings/arrays.hpp"

namespace keyhole::bindings {

namespace {

void newton_epoch(const Vector& w, const Matrix& A_inv, const Vector& tally, const ConstMatrix& X, const ConstVector& y,
                  double rho, const Vector& y_hat) {
  const std::size_t k = w.shape(0);
  require(A_inv.shape(0) == k && A_inv.shape(1) == k && tally.shape(0) == 2, "w, A_inv and tally do not fit together");
  require(X.shape(0) == y.shape(0) && X.shape(1) == k && y_hat.shape(0) == y.shape(0), "X, y and y_hat do not fit w");
  const newton::NewtonState state{span(w), matrix(A_inv), span(tally)};
  const auto rows = matrix(X);
  const auto labels = span(y);
  const auto predictions = span(y_hat);
  nb::gil_scoped_release release;
  newton::newton_epoch(state, rows, labels, rho, predictions);
}

void gradient_epoch(const Vector& w, const Vector& sum_squares, const ConstMatrix& X, const ConstVector& y,
                    const Vector& y_hat) {
  require(sum_squares.shape(0) == 1, "sum_squares must have one entry");
  require(X.shape(0) == y.shape(0) && X.shape(1) == w.shape(0) && y_hat.shape(0) == y.shape(0),
          "X, y and y_hat do not fit w");
  const auto rows = matrix(X);
  const auto labels = span(y);
  const auto predictions = span(y_hat);
  const auto weights = span(w);
  const auto sums = span(sum_squares);
  nb::gil_scoped_release release;
  newton::gradient_epoch(weights, sums, rows, labels, predictions);
}

}  // namespace

void bind_newton(nb::module_& m) {
  m.def("newton_epoch", &newton_epoch, nb::arg("w").noconvert(), nb::arg("A_inv").noconvert(),
        nb::arg("tally").noconvert(), nb::arg("X").noconvert(), nb::arg("y").noconvert(), nb::arg("rho"),
        nb::arg("y_hat").noconvert(), "Play an epoch of online Newton steps in place; predictions go into y_hat.");
  m.def("gradient_epoch", &gradient_epoch, nb::arg("w").noconvert(), nb::arg("sum_squares").noconvert(),
        nb::arg("X").noconvert(), nb::arg("y").noconvert(), nb::arg("y_hat").noconvert(),
        "Play an epoch of online gradient steps in place; predictions go into y_hat.");
}

}  // namespace keyhole::bindings
