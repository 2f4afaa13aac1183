#include "sampling/sampling.hpp"

#include "bindings/areas.hpp"
#include "bindings/arrays.hpp"
#include "sampling/importance_weighting.hpp"
#include "sampling/observed.hpp"
#include "sampling/top_k.hpp"

namespace keyhole::bindings {

namespace {

void require_below(const ConstIndices& B, std::size_t d) {
  for (const auto i : span(B)) require(i >= 0 && static_cast<std::size_t>(i) < d, "an index is out of range");
}

void set_law(const ConstVector& w, const Vector& q) {
  require(w.shape(0) == q.shape(0), "w and q have different lengths");
  nb::gil_scoped_release release;
  sampling::set_law(span(w), span(q));
}

void join_draws(const ConstVector& q, double u, const ConstIndices& others, const Indices& B) {
  require(B.shape(0) == others.shape(0) + 1 && q.shape(0) >= B.shape(0), "q, others and B do not fit together");
  nb::gil_scoped_release release;
  sampling::join_draws(span(q), u, span(others), span(B));
}

void set_pair_probabilities(std::int64_t fixed, const ConstVector& q_B, std::int64_t n, std::int64_t m, const Matrix& P) {
  const std::size_t size = static_cast<std::size_t>(fixed) + q_B.shape(0);
  require(fixed >= 0 && P.shape(0) == size && P.shape(1) == size, "P does not fit q_B");
  require(m < n && n >= 2, "m must be below n");
  sampling::set_pair_probabilities(fixed, span(q_B), n, m, matrix(P));
}

void estimate_moments(const ConstVector& x, const ConstMatrix& P, const Vector& x_hat, const Matrix& h) {
  const std::size_t k = x.shape(0);
  require(P.shape(0) == k && P.shape(1) == k && x_hat.shape(0) == k && h.shape(0) == k && h.shape(1) == k,
          "x, P, x_hat and h do not fit together");
  sampling::estimate_moments(span(x), matrix(P), span(x_hat), matrix(h));
}

void estimate_round(const ConstVector& w_hat, const ConstIndices& B, const ConstVector& x, double y,
                    const ConstMatrix& P, const Vector& v, const Matrix& h, const Vector& deviation) {
  const std::size_t k = B.shape(0);
  require(x.shape(0) == k && P.shape(0) == k && P.shape(1) == k && v.shape(0) == k && h.shape(0) == k &&
              h.shape(1) == k && deviation.shape(0) == k,
          "B, x, P, v, h and deviation do not fit together");
  require_below(B, w_hat.shape(0));
  sampling::estimate_round(span(w_hat), span(B), span(x), y, matrix(P), span(v), matrix(h), span(deviation));
}

void top_k(const ConstVector& w, std::int64_t k, const Array1<const bool>& inside, const ConstIndices& permutation,
           const Indices& places) {
  const std::size_t d = w.shape(0);
  require(inside.shape(0) == d && permutation.shape(0) == d && places.shape(0) == d && k >= 0 &&
              static_cast<std::size_t>(k) <= d,
          "w, inside, permutation and places do not fit together");
  require_below(permutation, d);
  nb::gil_scoped_release release;
  sampling::top_k(span(w), k, span(inside), span(permutation), span(places));
}

double dot_observed(const ConstVector& w, const ConstIndices& B, const ConstVector& x) {
  require(B.shape(0) == x.shape(0), "B and x do not fit together");
  require_below(B, w.shape(0));
  return sampling::dot_observed(span(w), span(B), span(x));
}

double dot_on_support(const ConstVector& w, const ConstIndices& S, const ConstIndices& B, const ConstVector& x) {
  require(w.shape(0) == S.shape(0) && B.shape(0) == x.shape(0), "w and S, or B and x, do not fit together");
  return sampling::dot_on_support(span(w), span(S), span(B), span(x));
}

}  // namespace

void bind_sampling(nb::module_& m) {
  m.def("set_law", &set_law, array("w"), array("q"), "q = |w| / |w|_1, uniform where w = 0.");
  m.def("join_draws", &join_draws, array("q"), nb::arg("u"), array("others"), array("B"),
        "B = the first index ~ q by its uniform u, then the others, drawn from all but the first.");
  m.def("set_pair_probabilities", &set_pair_probabilities, nb::arg("fixed"), array("q_B"), nb::arg("n"), nb::arg("m"),
        array("P"), "P[i, j] for `fixed` attributes followed by m drawn of n; P holds ones before.");
  m.def("estimate_moments", &estimate_moments, array("x"), array("P"), array("x_hat"), array("h"),
        "x_hat and h from the observed x and the pair probabilities P.");
  m.def("estimate_round", &estimate_round, array("w_hat"), array("B"), array("x"), nb::arg("y"), array("P"), array("v"),
        array("h"), array("deviation"), "v = x_hat y, h, and deviation = v - h w_hat(B).");
  m.def("top_k", &top_k, array("w"), nb::arg("k"), array("inside"), array("permutation"), array("places"),
        "The first k of places become the k indices of largest |w|, the largest first.");
  m.def("dot_observed", &dot_observed, array("w"), array("B"), array("x"), "Sum of w[B_i] x_i over known x_i.");
  m.def("dot_on_support", &dot_on_support, array("w"), array("S"), array("B"), array("x"),
        "Sum of w_a x_i where S_a = B_i, over known x_i; S is ascending.");
}

}  // namespace keyhole::bindings
