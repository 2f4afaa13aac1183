// _core.thrifty: the kernels of thrifty on numpy structured arrays. An Engine is a set of views of arrays that Python
// holds; it owns scratch only, and is made anew when an array grows.
#include "thrifty/engine.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/areas.hpp"
#include "bindings/arrays.hpp"
#include "thrifty/interval_calibrator.hpp"
#include "thrifty/regime_memory.hpp"

namespace keyhole::bindings {

namespace {

using thrifty::Index;

// The memory of a numpy array of records; the array must be contiguous and of the record's size.
template <class Record>
std::span<Record> records(const nb::dict& arrays, const char* name) {
  const nb::object array = nb::borrow(arrays[name]);
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_CONTIG) != 0) throw nb::python_error();
  const bool fits = view.len % static_cast<Py_ssize_t>(sizeof(Record)) == 0;
  const std::span<Record> out(static_cast<Record*>(view.buf), static_cast<std::size_t>(view.len) / sizeof(Record));
  PyBuffer_Release(&view);  // numpy does not move memory; Python keeps the array
  if (!fits) throw std::invalid_argument(std::string("the array '") + name + "' has records of another size");
  return out;
}

class Engine {
 public:
  Engine(const nb::dict& arrays, Index store_full) {
    thrifty::State& s = state_;
    s.attr = records<thrifty::Attribute>(arrays, "attr");
    s.source = records<thrifty::Source>(arrays, "source");
    s.source_attributes = records<Index>(arrays, "source_attributes");
    s.order = records<Index>(arrays, "order");
    s.queue = records<Index>(arrays, "queue");
    s.partial_products = records<double>(arrays, "partial_products");
    s.pairs = records<thrifty::Pair>(arrays, "pair");
    s.row = records<thrifty::Row>(arrays, "row");
    s.value = records<thrifty::Value>(arrays, "value");
    s.prior = records<double>(arrays, "prior");
    s.log_q = records<double>(arrays, "log_q");
    s.centre = records<double>(arrays, "centre");
    s.level = records<double>(arrays, "level");
    s.level_expert = records<thrifty::LevelExpert>(arrays, "level_expert");
    s.alarm = records<thrifty::Alarm>(arrays, "alarm");
    s.stored_regime = records<thrifty::StoredRegime>(arrays, "stored_regime");
    s.stored_regime_members = records<Index>(arrays, "stored_regime_members");
    s.scalars_ = records<thrifty::Scalars>(arrays, "scalars").data();
    s.settings_ = records<thrifty::Settings>(arrays, "settings").data();
    s.constants_ = records<thrifty::Constants>(arrays, "constants").data();
    s.store_full = store_full;
    const std::span<thrifty::Column> columns = records<thrifty::Column>(arrays, "column");
    const std::span<thrifty::FitLabel> labels = records<thrifty::FitLabel>(arrays, "fit_label");
    const Index w = s.width = static_cast<Index>(columns.size()) / 2;
    require(s.pairs.size() == s.attr.size() * static_cast<std::size_t>(w), "pair and column do not fit together");
    const auto part = [&](const char* name, Index i, Index size) {
      const std::span<double> all = records<double>(arrays, name);
      require(static_cast<Index>(all.size()) == 2 * size * size, "an array of the fit has another size");
      return all.data() + i * size * size;
    };
    const auto view = [&](Index i) {
      const std::size_t first = static_cast<std::size_t>(i * w);
      return thrifty::Fit{columns.subspan(first, static_cast<std::size_t>(w)), labels.data() + i, part("gram", i, w + 2),
                          part("hidden", i, w), part("V", i, w), part("P", i, w), part("C", i, w), w};
    };
    s.fit = view(0);
    s.trial_fit = view(1);
    const std::size_t width = static_cast<std::size_t>(w);
    auto& scratch = s.scratch;
    for (auto* v : {&scratch.deviation, &scratch.product, &scratch.missing_rhs, &scratch.u}) v->assign(width + 2, 0.0);
    for (auto* v : {&scratch.joint_cov, &scratch.shrunk_cov, &scratch.trust, &scratch.cov_variance}) {
      v->assign(width + 1, 0.0);
    }
    scratch.missing_precision.assign(width * width + 1, 0.0);
    scratch.missing_covariance.assign(width * width + 1, 0.0);
    scratch.observed.assign(width + 1, 0);
    scratch.missing.assign(width + 1, 0);
    scratch.taken.assign(s.source.size(), 0);
  }

  std::tuple<std::vector<Index>, Index, Index, double, bool> ask(const Array1<const std::uint8_t>& pool,
                                                                  const ConstVector& prices) {
    require(pool.shape(0) == state_.source.size(), "pool must have an entry for every source");
    require(prices.shape(0) == 0 || prices.shape(0) == state_.source.size(), "prices must be one for every source");
    std::vector<Index> out;
    const std::span<const std::uint8_t> there = span(pool);
    const std::span<const double> paid = span(prices);
    nb::gil_scoped_release release;
    const thrifty::Basket b = thrifty::ask(state_, there, paid, out);
    return {std::move(out), b.attributes, b.sources, b.price, b.explores};
  }

  std::tuple<double, double> predict(const ConstIndices& attributes, const ConstVector& x) const {
    check(attributes, x);
    const auto a = span(attributes);
    const auto v = span(x);
    nb::gil_scoped_release release;
    const thrifty::Prediction p = thrifty::predict(state_, a, v);
    return {p.centre, p.spread};
  }

  void tell(const ConstIndices& attributes, const ConstVector& x, Index before, double y) {
    check(attributes, x);
    require(0 <= before && before <= static_cast<Index>(x.shape(0)), "before must count values");
    require(static_cast<Index>(x.shape(0)) <= static_cast<Index>(state_.value.size()), "a row has too many values");
    const auto a = span(attributes);
    const auto v = span(x);
    nb::gil_scoped_release release;
    thrifty::tell(state_, a, v, before, y);
  }

  Index learn(const ConstMatrix& X, const ConstVector& y, Index first) {
    require(X.shape(0) == y.shape(0) && X.shape(1) == state_.attr.size(), "X and y do not fit the attributes");
    require(state_.value.size() >= state_.attr.size(), "a row has too many values");
    const double *rows = X.data(), *labels = y.data();
    const Index n = static_cast<Index>(y.shape(0));
    nb::gil_scoped_release release;
    return thrifty::learn(state_, rows, labels, n, first);
  }

  bool must_grow(Index values) const { return thrifty::must_grow(state_, values); }

  Index play(const Array1<const std::uint8_t>& pool, const ConstMatrix& X, const ConstVector& y,
             const Vector& predictions, const Vector& levels, const Vector& prices,
             const Array1<std::uint8_t>& explored, const Array2<std::int64_t>& bought,
             const Array2<std::int64_t>& sizes, const ConstMatrix& paid, Index first) {
    const std::size_t n = y.shape(0);
    require(X.shape(0) == n && X.shape(1) == state_.attr.size(), "X and y do not fit the attributes");
    require(predictions.shape(0) == n && levels.shape(0) == n && prices.shape(0) == n && explored.shape(0) == n &&
                bought.shape(0) == n && sizes.shape(0) == n && sizes.shape(1) == 3,
            "the outputs do not fit the rows");
    require(pool.shape(0) == state_.source.size(), "pool must have an entry for every source");
    const thrifty::Rows rows{X.data(), y.data(), static_cast<Index>(n), static_cast<Index>(X.shape(1)),
                             static_cast<Index>(bought.shape(1)), predictions.data(), levels.data(), prices.data(),
                             explored.data(), bought.data(), sizes.data(),
                             paid.shape(0) > 0 ? paid.data() : nullptr, static_cast<Index>(paid.shape(1))};
    require(paid.shape(0) == 0 || (paid.shape(0) == n && paid.shape(1) == state_.source.size()),
            "prices must be one for every row and source");
    const auto there = span(pool);
    nb::gil_scoped_release release;
    return thrifty::play(state_, there, rows, first);
  }

  std::vector<double> probabilities() const {
    std::vector<double> out;
    for (Index s = 0; s < static_cast<Index>(state_.source.size()); ++s) out.push_back(thrifty::probability(state_, s));
    return out;
  }

  double reach(double level) const {
    const thrifty::IntervalCalibrator calibrator{state_.constants(), state_.log_q, state_.centre[0]};
    return calibrator.reach(level, state_.scalars().n_labels);
  }

 private:
  void check(const ConstIndices& attributes, const ConstVector& x) const {
    require(attributes.shape(0) == x.shape(0), "attributes and values do not fit together");
    for (const Index j : span(attributes)) {
      require(0 <= j && j < static_cast<Index>(state_.attr.size()), "there is no such attribute");
    }
  }
  thrifty::State state_;
};

nb::dict layouts() {
  nb::dict out;
  for (const thrifty::Layout& of : thrifty::layouts()) {
    nb::list fields;
    for (const thrifty::Field& f : of.fields) fields.append(nb::make_tuple(f.name, f.offset, f.integer ? "i8" : "f8"));
    out[of.name] = nb::make_tuple(of.size, fields);
  }
  return out;
}

}  // namespace

void bind_thrifty(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("thrifty", "The engine of thrifty; its state are arrays of records.");
  m.def("layouts", &layouts, "Records by name: (size, [(field, offset, type)]).");
  m.def("constants", [] {
    const thrifty::Constants defaults;
    return nb::bytes(reinterpret_cast<const char*>(&defaults), sizeof defaults);
  }, "The default constants as the bytes of one record.");
  m.attr("STORED_REGIMES") = thrifty::n_stored_regimes;
  bind_thrifty_layers(m);
  nb::class_<Engine>(m, "Engine")
      .def(nb::init<const nb::dict&, Index>(), nb::arg("arrays"), nb::arg("store_full"), nb::keep_alive<1, 2>())
      .def("ask", &Engine::ask, nb::arg("pool"), nb::arg("prices"))
      .def("predict", &Engine::predict, nb::arg("attributes").noconvert(), nb::arg("x").noconvert())
      .def("tell", &Engine::tell, nb::arg("attributes").noconvert(), nb::arg("x").noconvert(), nb::arg("before"),
           nb::arg("y"))
      .def("learn", &Engine::learn, nb::arg("X").noconvert(), nb::arg("y").noconvert(), nb::arg("first"))
      .def("must_grow", &Engine::must_grow, nb::arg("values"))
      .def("probabilities", &Engine::probabilities)
      .def("reach", &Engine::reach, nb::arg("level"))
      .def("play", &Engine::play, nb::arg("pool").noconvert(), nb::arg("X").noconvert(), nb::arg("y").noconvert(),
           nb::arg("predictions").noconvert(), nb::arg("levels").noconvert(), nb::arg("prices").noconvert(),
           nb::arg("explored").noconvert(), nb::arg("bought").noconvert(), nb::arg("sizes").noconvert(),
           nb::arg("paid").noconvert(), nb::arg("first"));
}

}  // namespace keyhole::bindings
