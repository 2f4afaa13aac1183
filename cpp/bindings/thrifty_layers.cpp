// The layers of thrifty as objects that hold their own state: each can be studied and tested without an engine.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/areas.hpp"
#include "bindings/arrays.hpp"
#include "thrifty/drift_detector.hpp"
#include "thrifty/interval_calibrator.hpp"
#include "thrifty/knapsack.hpp"
#include "thrifty/label_guard.hpp"
#include "thrifty/level_tracker.hpp"
#include "thrifty/outlier_clip.hpp"
#include "thrifty/posterior.hpp"

namespace keyhole::bindings {

namespace {

using thrifty::Index;

const thrifty::Constants defaults;

// One attribute and its clip.
class OutlierClip {
 public:
  double clip(double z) const { return layer_.clip(attribute_, z); }
  bool trusted(double z) const { return layer_.trusted(attribute_, z); }
  void observe(double z, double weight) { layer_.observe(attribute_, z, weight); }
  void learn(double z, double weight, double error, double s2) { layer_.learn(attribute_, z, weight, error, s2); }
  double mean() const { return thrifty::moments(attribute_).mean; }
  double variance() const { return thrifty::moments(attribute_).variance; }
  double evidence() const { return attribute_.outlier_evidence; }
  double limit() const { return attribute_.outlier_limit; }
  Index n_rejected() const { return attribute_.n_rejected_outliers; }

 private:
  thrifty::Attribute attribute_{};
  thrifty::OutlierClip layer_{defaults};
};

class LabelGuard {
 public:
  double tolerance(Index n_labels, double y_var, double y_low, double y_high) {
    now_.n_labels = n_labels;
    now_.y_var = y_var;
    now_.y_low = y_low;
    now_.y_high = y_high;
    return layer_.reach(now_);
  }
  double clip(double off, Index n_labels, double y_var, double y_low, double y_high) {
    return layer_.clip(now_, off, tolerance(n_labels, y_var, y_low, y_high));
  }

 private:
  thrifty::Scalars now_{};
  thrifty::LabelGuard layer_{defaults};
};

class LevelTracker {
 public:
  LevelTracker() {
    for (const double gain : thrifty::level_gains) experts_.push_back({0.0, gain, gain == 0.0 ? 1.0 : 0.0});
  }
  double level() const { return thrifty::LevelTracker{defaults, experts()}.level(); }
  double learnt_level(double rho) const { return thrifty::LevelTracker{defaults, experts()}.learnt_level(rho); }
  void update(double off, double reach, double s2, double rows) {
    thrifty::LevelTracker{defaults, experts()}.update(off, reach, s2, rows);
  }
  double moved(double y_var) {
    now_.y_var = y_var;
    return thrifty::LevelTracker{defaults, experts()}.moved(now_);
  }
  std::vector<double> levels() const { return part([](const thrifty::LevelExpert& a) { return a.level; }); }
  std::vector<double> weights() const { return part([](const thrifty::LevelExpert& a) { return a.weight; }); }

 private:
  std::span<thrifty::LevelExpert> experts() const { return experts_; }
  template <class Of>
  std::vector<double> part(Of&& of) const {
    std::vector<double> out;
    for (const thrifty::LevelExpert& a : experts_) out.push_back(of(a));
    return out;
  }
  mutable std::vector<thrifty::LevelExpert> experts_;
  thrifty::Scalars now_{};
};

class DriftDetector {
 public:
  std::tuple<double, double, double> update(double f, double y, double y_hat, double y_hat_shifted, double slope,
                                            double explained, double s2, double y_var, double rows) {
    now_.s2 = s2;
    now_.y_var = y_var;
    now_.sum_weight = rows;
    now_.row_weight = 1.0;
    const thrifty::Drift found = layer_.update(now_, explained, slope, f, y, y_hat, y_hat_shifted);
    return {found.forget, found.slope_before, found.slope_after};
  }
  void reset() { thrifty::DriftDetector::reset(now_); }
  bool suspicious() const { return layer_.suspicious(now_); }
  std::tuple<double, double, double> statistics() const {
    return {now_.cusum, now_.cusum_recalibrated, now_.cusum_weights};
  }
  double noise() const { return thrifty::noise(now_); }

 private:
  thrifty::Scalars now_{};
  thrifty::DriftDetector layer_{defaults};
};

class IntervalCalibrator {
 public:
  IntervalCalibrator(std::vector<double> log_q, double centre) : log_q_(std::move(log_q)), centre_(centre) {
    require(log_q_.size() == std::size(thrifty::interval_levels), "log_q must have one entry for every level");
  }
  double update(double error, double spread, Index n_labels) { return layer().update(error, spread, n_labels); }
  double reach(double level, Index n_labels) { return layer().reach(level, n_labels); }
  const std::vector<double>& log_q() const { return log_q_; }
  double centre() const { return centre_; }

 private:
  thrifty::IntervalCalibrator layer() { return {defaults, log_q_, centre_}; }
  std::vector<double> log_q_;
  double centre_;
};

}  // namespace

void bind_thrifty_layers(nb::module_& m) {
  m.attr("LEVEL_GAINS") = std::vector<double>(std::begin(thrifty::level_gains), std::end(thrifty::level_gains));
  m.attr("INTERVAL_LEVELS") =
      std::vector<double>(std::begin(thrifty::interval_levels), std::end(thrifty::interval_levels));
  m.def("invert", [](const ConstVector& A, Index m) {
    require(static_cast<Index>(A.shape(0)) == m * m, "a matrix of m columns has m x m numbers");
    std::vector<double> out(A.shape(0)), workspace;
    thrifty::invert(span(A).data(), m, m, out.data(), m, workspace);
    return out;
  }, nb::arg("A"), nb::arg("m"), "The inverse of a covariance matrix, row by row; 0 for columns that others determine.");
  m.def("posterior", [](const ConstVector& prior, double gain, double n, double v, Index q, double y_var, double need) {
    require(prior.shape(0) == 5, "prior must be a spike and four slabs");
    const thrifty::Posterior of = thrifty::posterior(span(prior), gain, n, v, q, y_var);
    return std::tuple<std::vector<double>, double, double>({of.weight.begin(), of.weight.end()}, of.mean(),
                                                           of.expected_excess(need));
  }, nb::arg("prior"), nb::arg("gain"), nb::arg("n"), nb::arg("v"), nb::arg("q"), nb::arg("y_var"), nb::arg("need"),
        "Weights of spike and slabs after n rows, E |theta|^2, and E (|theta|^2 - need)_+.");
  m.def("initial_prior", [](double expected, double n) {
    const auto p = thrifty::initial_prior(expected, n);
    return std::vector<double>(p.begin(), p.end());
  }, nb::arg("expected"), nb::arg("n"), "The prior of what a source explains: spike and slabs.");
  m.def("knapsack", [](const ConstVector& values, const ConstVector& prices, Index count, double money) {
    require(values.shape(0) == prices.shape(0), "values and prices do not fit together");
    std::vector<Index> taken(values.shape(0));
    thrifty::knapsack(span(values), span(prices), count, money, taken);
    return taken;
  }, nb::arg("values"), nb::arg("prices"), nb::arg("count"), nb::arg("money"),
        "1 for the things of the best basket: at most `count` of them for at most `money`.");
  nb::class_<OutlierClip>(m, "OutlierClip", "Adaptive winsorising of one attribute.")
      .def(nb::init<>())
      .def("clip", &OutlierClip::clip, nb::arg("z"), "The value as it is used.")
      .def("trusted", &OutlierClip::trusted, nb::arg("z"), "Whether it is an outlier that counts as it is.")
      .def("observe", &OutlierClip::observe, nb::arg("z"), nb::arg("weight"), "Count a value into mean and variance.")
      .def("learn", &OutlierClip::learn, nb::arg("z"), nb::arg("weight"), nb::arg("error"), nb::arg("s2"),
           "Learn from the label of a row whether an outlier was genuine.")
      .def_prop_ro("mean", &OutlierClip::mean)
      .def_prop_ro("variance", &OutlierClip::variance)
      .def_prop_ro("evidence", &OutlierClip::evidence)
      .def_prop_ro("limit", &OutlierClip::limit)
      .def_prop_ro("n_rejected", &OutlierClip::n_rejected);
  nb::class_<LabelGuard>(m, "LabelGuard", "Clips labels that are absurdly far from their predictions.")
      .def(nb::init<>())
      .def("tolerance", &LabelGuard::tolerance, nb::arg("n_labels"), nb::arg("y_var"), nb::arg("y_low"),
           nb::arg("y_high"), "How far from its prediction a label may be.")
      .def("clip", &LabelGuard::clip, nb::arg("off"), nb::arg("n_labels"), nb::arg("y_var"), nb::arg("y_low"),
           nb::arg("y_high"), "The error that is learnt from; the tolerance adapts.");
  nb::class_<LevelTracker>(m, "LevelTracker", "The level of the label, by four experts with fixed share.")
      .def(nb::init<>())
      .def("update", &LevelTracker::update, nb::arg("off"), nb::arg("reach"), nb::arg("s2"), nb::arg("rows"),
           "Learn from the error of a label.")
      .def("learnt_level", &LevelTracker::learnt_level, nb::arg("rho"),
           "The level that is subtracted from labels that are learnt; rho: correlation of attributes from row to row.")
      .def("moved", &LevelTracker::moved, nb::arg("y_var"), "By how much the level moved, once it has stayed there.")
      .def_prop_ro("level", &LevelTracker::level)
      .def_prop_ro("levels", &LevelTracker::levels)
      .def_prop_ro("weights", &LevelTracker::weights);
  nb::class_<DriftDetector>(m, "DriftDetector",
                             "Cumulative sums that compare each prediction with alternatives fitted to the last rows.")
      .def(nb::init<>())
      .def("update", &DriftDetector::update, nb::arg("f"), nb::arg("y"), nb::arg("y_hat"), nb::arg("y_hat_shifted"),
           nb::arg("slope"), nb::arg("explained"), nb::arg("s2"), nb::arg("y_var"), nb::arg("rows"),
           "What the past is to be divided by (1: no change), and the slopes before and after.")
      .def("reset", &DriftDetector::reset, "Start again with another support.")
      .def("suspicious", &DriftDetector::suspicious)
      .def_prop_ro("statistics", &DriftDetector::statistics)
      .def_prop_ro("noise", &DriftDetector::noise);
  nb::class_<IntervalCalibrator>(m, "IntervalCalibrator", "Running quantiles of the errors.")
      .def(nb::init<std::vector<double>, double>(), nb::arg("log_q"), nb::arg("centre"))
      .def("update", &IntervalCalibrator::update, nb::arg("error"), nb::arg("spread"), nb::arg("n_labels"),
           "Learn from an error; the lowest level whose interval held the label.")
      .def("reach", &IntervalCalibrator::reach, nb::arg("level"), nb::arg("n_labels"),
           "Half the width of an interval, in spreads.")
      .def_prop_ro("log_q", &IntervalCalibrator::log_q)
      .def_prop_ro("centre", &IntervalCalibrator::centre);
}

}  // namespace keyhole::bindings
