#include "newton/newton.hpp"
#include "newton/ridge_bank.hpp"

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

double quadratic_form(const ConstMatrix& A_inv, const Vector& v, const ConstVector& x) {
  const std::size_t k = x.shape(0);
  require(A_inv.shape(0) == k && A_inv.shape(1) == k && v.shape(0) == k, "A_inv, v and x do not fit together");
  return newton::quadratic_form(matrix(A_inv), span(v), span(x));
}

void ridge_bank_step(const Array3<double>& A_inv, const Matrix& b, const ConstIndices& which, const ConstMatrix& X,
                     double y, const Vector& y_hat) {
  const std::size_t k = b.shape(1);
  require(A_inv.shape(0) == b.shape(0) && A_inv.shape(1) == k && A_inv.shape(2) == k, "A_inv and b do not fit together");
  require(X.shape(0) == which.shape(0) && X.shape(1) == k && y_hat.shape(0) == which.shape(0),
          "which, X and y_hat do not fit b");
  for (const auto i : span(which)) require(i >= 0 && i < static_cast<std::int64_t>(b.shape(0)), "no such forecaster");
  nb::gil_scoped_release release;
  newton::ridge_bank_step({A_inv.data(), matrix(b)}, span(which), matrix(X), y, span(y_hat));
}

}  // namespace

void bind_newton(nb::module_& m) {
  m.def("newton_epoch", &newton_epoch, array("w"), array("A_inv"),
        array("tally"), array("X"), array("y"), nb::arg("rho"),
        array("y_hat"), "Play an epoch of online Newton steps in place; predictions go into y_hat.");
  m.def("gradient_epoch", &gradient_epoch, array("w"), array("sum_squares"),
        array("X"), array("y"), array("y_hat"),
        "Play an epoch of online gradient steps in place; predictions go into y_hat.");
  m.def("quadratic_form", &quadratic_form, array("A_inv"), array("v"), array("x"),
        "x' A^-1 x for v = A^-1 x; 0, and v = 0 too, where it is lost in rounding.");
  m.def("ridge_bank_step", &ridge_bank_step, array("A_inv"), array("b"), array("which"), array("X"), nb::arg("y"),
        array("y_hat"), "Predict and learn one example for each forecaster named in `which`, in place.");
}

}  // namespace keyhole::bindings
