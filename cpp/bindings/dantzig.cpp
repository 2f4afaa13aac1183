#include "dantzig/basis.hpp"

#include "bindings/areas.hpp"
#include "bindings/arrays.hpp"
#include "dantzig/parametric_path.hpp"
#include "dantzig/sequence.hpp"
#include "dantzig/update.hpp"
#include "dantzig/width.hpp"
#include "linalg/inverse.hpp"
#include "poslrc/block.hpp"

namespace keyhole::bindings {

namespace {

using linalg::Index;

// The three bundles below are views of numpy arrays, made once so that a solve hands over three pointers instead of
// twenty arrays. They keep the arrays alive and own nothing else that outlives a solve.

struct StoreArrays {
  ConstMatrix columns, rows;
  ConstIndices place, first;
  Array2<const Index> link;
  ConstIndices B;
  ConstVector h;
  dantzig::Store view;

  StoreArrays(ConstMatrix columns_, ConstMatrix rows_, ConstIndices place_, ConstIndices first_,
              Array2<const Index> link_, ConstIndices B_, ConstVector h_)
      : columns(columns_), rows(rows_), place(place_), first(first_), link(link_), B(B_), h(h_) {
    const std::size_t d = place.shape(0);
    require(columns.shape(1) == d && rows.shape(1) == d && columns.shape(0) == rows.shape(0) && first.shape(0) == d,
            "columns, rows, place and first do not fit together");
    require(link.shape(1) == 4, "link must have four columns");
    view = {matrix(columns), matrix(rows), span(place), span(first), matrix(link), span(B), span(h)};
  }
};

struct BasisArrays {
  Array2<Index> idx;
  Matrix sgn;
  Array2<Index> pos;
  Array3<double> GG;
  dantzig::Basis view;

  BasisArrays(Array2<Index> idx_, Matrix sgn_, Array2<Index> pos_, Array3<double> GG_)
      : idx(idx_), sgn(sgn_), pos(pos_), GG(GG_) {
    const std::size_t n = idx.shape(1);
    require(idx.shape(0) == 2 && sgn.shape(0) == 2 && sgn.shape(1) == n && pos.shape(0) == 2,
            "idx, sgn and pos do not fit together");
    require(GG.shape(0) == 2 && GG.shape(1) == n && GG.shape(2) == n, "GG does not fit idx");
    for (int f = 0; f < 2; ++f) {
      view.idx[f] = matrix(idx).row(f);
      view.sgn[f] = matrix(sgn).row(f);
      view.pos[f] = matrix(pos).row(f);
    }
    const auto capacity = static_cast<Index>(n);
    view.G = {GG.data(), capacity, capacity};
    view.G_inv = {GG.data() + capacity * capacity, capacity, capacity};
  }
};

dantzig::Linear linear(const Array3<double>& a, std::size_t f) {
  const std::size_t n = a.shape(2);
  double* const data = a.data() + f * a.shape(1) * n;
  dantzig::Linear out{{data, n}, {data + n, n}, {}};
  if (a.shape(1) == 3) out.move = {data + 2 * n, n};
  return out;
}

struct WorkArrays {
  Array3<double> x, z, c;
  ConstVector preference;
  dantzig::Work view;

  WorkArrays(Array3<double> x_, Array3<double> z_, Array3<double> c_, ConstVector preference_)
      : z(z_), c(c_), preference(preference_) {
    const std::size_t d = z.shape(2);
    require(z.shape(0) == 2 && z.shape(1) == 3 && c.shape(0) == 2 && c.shape(1) == 2 && c.shape(2) == d,
            "z and c do not fit together");
    require(preference.shape(0) == d, "preference does not fit z");
    view.preference = span(preference);
    for (int f = 0; f < 2; ++f) {
      view.z[f] = linear(z, f);
      view.c[f] = linear(c, f);
      view.ahead[f].resize(d);
    }
    set_coefficients(x_);
  }

  void set_coefficients(Array3<double> x_) {
    require(x_.shape(0) == 2 && x_.shape(1) == 3, "x must be (2, 3, capacity)");
    x = x_;
    for (int f = 0; f < 2; ++f) view.x[f] = linear(x, f);
    for (auto& v : view.v) v.assign(x.shape(2), 0.0);
  }
};

void require_fit(const StoreArrays& store, const BasisArrays& basis, const WorkArrays& work, std::int64_t m,
                 std::size_t d) {
  require(store.place.shape(0) == d && basis.pos.shape(1) == d && work.z.shape(2) == d, "the sizes differ from d");
  require(work.x.shape(2) == basis.idx.shape(1), "the capacities differ");
  require(m >= 0 && static_cast<std::size_t>(m) <= basis.idx.shape(1), "m is larger than the basis");
}

nb::tuple to_tuple(const dantzig::Ending& e) {
  return nb::make_tuple(static_cast<std::int64_t>(e.verdict), e.m, e.pivots, e.updates, e.objective, e.primal, e.dual,
                        e.gap);
}

nb::tuple follow_path(const StoreArrays& store, const BasisArrays& basis, WorkArrays& work, std::int64_t m,
                      const ConstVector& b, double scale, const Matrix& out, std::int64_t seed, std::int64_t updates) {
  require_fit(store, basis, work, m, b.shape(0));
  require(out.shape(0) == 2 && out.shape(1) == b.shape(0), "out does not fit b");
  dantzig::Ending ending;
  {
    const auto b_ = span(b);
    const auto out_ = matrix(out);
    nb::gil_scoped_release release;
    ending = dantzig::follow_path(store.view, basis.view, work.view, m, b_, scale, out_.row(0), out_.row(1), seed, updates);
  }
  return to_tuple(ending);
}

std::int64_t add_round(const Matrix& H, const Vector& b, const ConstIndices& B, const ConstMatrix& h,
                       const ConstVector& v, const BasisArrays& basis, WorkArrays& work, std::int64_t m,
                       std::int64_t most, bool asymmetric) {
  const std::size_t k = B.shape(0);
  const std::size_t d = b.shape(0);
  require(h.shape(0) == k && h.shape(1) == k && v.shape(0) == k, "B, h and v do not fit together");
  require(H.shape(0) == 0 || (H.shape(0) == d && H.shape(1) == d), "H does not fit b");
  require(basis.pos.shape(1) == d && work.x.shape(2) == basis.idx.shape(1) && m >= 0 &&
              static_cast<std::size_t>(m) <= basis.idx.shape(1),
          "the basis does not fit b");
  nb::gil_scoped_release release;
  return dantzig::add_round(matrix(H), span(b), {span(B), matrix(h), span(v)}, basis.view, work.view, m, most,
                            asymmetric);
}

bool invert(const ConstMatrix& G, const Matrix& G_inv, std::int64_t m) {
  const std::size_t n = G.shape(0);
  require(G.shape(1) == n && G_inv.shape(0) == n && G_inv.shape(1) == n && m >= 0 && static_cast<std::size_t>(m) <= n,
          "G, G_inv and m do not fit together");
  std::vector<double> swaps(n);
  nb::gil_scoped_release release;
  return linalg::invert(matrix(G), matrix(G_inv), m, swaps);
}

void set_widths(const ConstVector& V, double scale, const Vector& gamma) {
  require(V.shape(0) == gamma.shape(0), "V and gamma have different lengths");
  nb::gil_scoped_release release;
  dantzig::set_widths(span(V), scale, span(gamma));
}

bool scale_widths(const ConstVector& gamma, double scale, const Vector& out) {
  require(gamma.shape(0) == out.shape(0), "gamma and out have different lengths");
  bool legal = true;
  for (std::size_t i = 0; i < out.shape(0); ++i) {
    out.data()[i] = scale * gamma.data()[i];
    legal = legal && out.data()[i] >= 0.0;
  }
  return legal;
}

nb::tuple poslrc_block(const Vector& w_hat, const Indices& S, const ConstIndices& permutation, const Vector& V,
                       double scale, const ConstVector& gammas, std::int64_t first, std::int64_t every, bool uniform,
                       const Indices& tally, const Matrix& H, const Vector& b, const StoreArrays& store,
                       const BasisArrays& basis, WorkArrays& work, const Indices& counts, const ConstVector& u,
                       const Array2<const Index>& others,
                       const nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>& X, const ConstVector& y,
                       const Vector& y_hat, const Array2<Index>& bought, std::int64_t t, std::int64_t patience,
                       double tolerance) {
  const std::size_t d = b.shape(0);
  const std::size_t k = S.shape(0);
  const std::size_t n = y.shape(0);
  require(counts.shape(0) == 3 && tally.shape(0) == 2, "counts must have three entries and tally two");
  require_fit(store, basis, work, counts.data()[0], d);
  require(H.shape(0) == d && H.shape(1) == d && w_hat.shape(0) == d && permutation.shape(0) == d &&
              (V.shape(0) == d || V.shape(0) == 0),
          "the arrays of the estimate do not fit b");
  require(X.shape(1) == d && X.shape(0) == n && y_hat.shape(0) == n && bought.shape(0) == n && bought.shape(1) >= k &&
              bought.shape(1) <= d && t >= 0,
          "X, y, y_hat and bought do not fit together");
  const std::size_t m = bought.shape(1) - k;
  require(m == d - k || (m >= 1 && u.shape(0) == n && others.shape(0) == n && others.shape(1) == m - 1),
          "the draws do not fit the rows");
  require(V.shape(0) == d || gammas.shape(0) > n, "there are too few widths");
  for (const auto i : span(S)) require(i >= 0 && static_cast<std::size_t>(i) < d, "S is out of range");
  for (const auto i : span(permutation)) require(i >= 0 && static_cast<std::size_t>(i) < d, "the permutation is not one");
  Index* const c = counts.data();
  const dantzig::Sequence sequence{matrix(H), span(b), store.view, basis.view, work.view, c[0], c[1], c[2]};
  const poslrc::Estimate estimate{span(w_hat), span(S), span(permutation), span(V), scale, span(gammas), first, every,
                                  uniform, tally.data()[0], tally.data()[1]};
  const poslrc::Draws draws{span(u), matrix(others)};
  const linalg::StridedMatrixView rows{X.data(), static_cast<Index>(n), static_cast<Index>(d), X.stride(0), X.stride(1)};
  const auto labels = span(y);
  const auto predictions = span(y_hat);
  const auto purchases = matrix(bought);
  poslrc::Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = poslrc::play(estimate, sequence, draws, rows, labels, predictions, purchases, t, patience, tolerance);
  }
  return nb::make_tuple(static_cast<std::int64_t>(outcome.stop), outcome.t, outcome.warm, to_tuple(outcome.ending));
}

}  // namespace

void bind_dantzig(nb::module_& m) {
  nb::class_<StoreArrays>(m, "DantzigStore", "Where the rows of H are: views of numpy arrays.")
      .def(nb::init<ConstMatrix, ConstMatrix, ConstIndices, ConstIndices, Array2<const Index>, ConstIndices,
                    ConstVector>(),
           array("columns"), array("rows"), array("place"), array("first"), array("link"), array("B"), array("h"));
  nb::class_<BasisArrays>(m, "DantzigBasis", "A basis of the parametric simplex: views of numpy arrays.")
      .def(nb::init<Array2<Index>, Matrix, Array2<Index>, Array3<double>>(), array("idx"), array("sgn"), array("pos"),
           array("GG"));
  nb::class_<WorkArrays>(m, "DantzigWork", "The point of a basis and the way it takes: views of numpy arrays.")
      .def(nb::init<Array3<double>, Array3<double>, Array3<double>, ConstVector>(), array("x"), array("z"), array("c"),
           array("preference"))
      .def("set_coefficients", &WorkArrays::set_coefficients, array("x"), "Take other coefficients; the way is kept.")
      .def_prop_ro("missing", [](const WorkArrays& w) { return w.view.path.missing; }, "The row of H that is absent.")
      .def_prop_ro("restarts", [](const WorkArrays& w) { return w.view.path.restarts; }, "Perturbations so far.")
      .def_prop_ro("seed", [](const WorkArrays& w) { return w.view.path.seed; }, "The seed of the perturbations.")
      .def("event",
           [](const WorkArrays& w, int side) {
             require(side == 0 || side == 1, "side must be 0 or 1");
             const dantzig::Side& s = w.view.side[side];
             return nb::make_tuple(static_cast<std::int64_t>(s.kind), s.which, s.sign);
           },
           nb::arg("side"), "(kind, place or index, sign) of the side's next event.");
  m.def("follow_path", &follow_path, nb::arg("store"), nb::arg("basis"), nb::arg("work"), nb::arg("m"), array("b"),
        nb::arg("scale"), array("out"), nb::arg("seed"), nb::arg("updates"),
        "Follow the parametric path: (verdict, m, pivots, updates, objective, primal, dual, gap).");
  m.def("add_round", &add_round, array("H"), array("b"), array("B"), array("h"), array("v"), nb::arg("basis"),
        nb::arg("work"), nb::arg("m"), nb::arg("most"), nb::arg("asymmetric"),
        "H[B, B] += h, b[B] += v, and the inverse follows: the columns changed, or a fault below 0.");
  m.def("invert", &invert, array("G"), array("G_inv"), nb::arg("m"),
        "G_inv = G^-1 on the leading m x m blocks; False where G is singular.");
  m.def("set_widths", &set_widths, array("V"), nb::arg("scale"), array("gamma"),
        "gamma_i = scale sqrt(V_i), with no V_i below a tenth of their mean.");
  m.def("scale_widths", &scale_widths, array("gamma"), nb::arg("scale"), array("out"),
        "out = scale gamma; whether gamma is a legal width.");
  m.def("poslrc_block", &poslrc_block, array("w_hat"), array("S"), array("permutation"), array("V"), nb::arg("scale"),
        array("gammas"), nb::arg("first"), nb::arg("every"), nb::arg("uniform"), array("tally"),
        array("H"), array("b"), nb::arg("store"), nb::arg("basis"), nb::arg("work"), array("counts"), array("u"),
        array("others"), array("X"), array("y"), array("y_hat"), array("bought"), nb::arg("t"), nb::arg("patience"),
        nb::arg("tolerance"), "Play rows of DS-POSLRC from t on: (stop, rows played, warm, ending).");
}

}  // namespace keyhole::bindings
