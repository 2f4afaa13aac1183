#include "thrifty/engine.hpp"

#include "thrifty/drift_detector.hpp"
#include "thrifty/interval_calibrator.hpp"
#include "thrifty/label_guard.hpp"
#include "thrifty/level_tracker.hpp"
#include "thrifty/outlier_clip.hpp"
#include "thrifty/regime_memory.hpp"
#include "thrifty/selection.hpp"

namespace keyhole::thrifty {

namespace {

// Label ranges: so far a prediction from trusted outliers may leave the range of the labels.
constexpr double trusted_range_slack = 1e6;
// Weight of a new row beyond which all sums are divided by it.
constexpr double most_row_weight = 1e30;
// Labels before the level is followed.
constexpr Index least_level_labels = 30;
// Correlation from row to row, at most; with 1 no level could be told from attributes.
constexpr double most_autocorrelation = 0.999;
// Rows: memory of the squared prediction error, and of the slope alpha, at least; at most a quarter, and half, of all
// rows.
constexpr double least_error_memory = 30.0, least_slope_memory = 50.0;
// Share of `drift_memory`: the recent shift of the weights decays by this rate.
constexpr double shift_decay = 0.2;
// Past rows before the support is chosen from them for the first time.
constexpr Index first_past_refit = 20;
// Ratio: past rows are few, and wait for the next refit, if so many times as many rows are known already.
constexpr Index few_past_rows_ratio = 50;
// Labels during which past rows may be rejected.
constexpr Index past_rows_trial = 100;
// Ratio: the evidence that rejects past rows over that which rejects a regime.
constexpr double past_rows_nats_ratio = 2.0;

LevelTracker level_tracker(const State& state) { return {state.constants(), state.level_expert}; }

// The prediction without the level: mean(y) + alpha f, within the range of the labels and the slack.
double bounded_prediction(const State& state, const Signal& signal) {
  const Scalars& scalars = state.scalars();
  const double slack = signal.slack * (scalars.y_high - scalars.y_low);
  const double y_hat = scalars.y_mean + scalars.alpha * signal.f;
  return std::min(scalars.y_high + slack, std::max(scalars.y_low - slack, y_hat));
}

// The expected deviation of a label from its prediction: s2 (1 + h), what alpha holds back, and what the columns not
// observed hide; without any column that of the label.
double expected_deviation(const State& state, const Signal& signal) {
  const Scalars& scalars = state.scalars();
  if (signal.shown == 0) return std::sqrt(scalars.y_var);
  const double held_back = (1.0 - scalars.alpha) * (1.0 - scalars.alpha) * state.fit.label->explained;
  return std::sqrt(scalars.s2 * (1.0 + std::max(signal.h, 0.0)) + held_back + signal.hidden);
}

// Whether past rows come from another regime: their fit predicts new labels worse than the mean of the labels does.
bool past_rows_fail(const State& state, double f, double y) {
  Scalars& scalars = state.scalars();
  if (state.learning || scalars.n_labels >= scalars.past_until || scalars.past_s2 <= 0.0) return false;
  scalars.past_evidence += fit_against_mean(scalars, y - scalars.y_mean - f, y - scalars.y_mean, scalars.past_s2);
  if (scalars.past_evidence > state.constants().decision_nats) scalars.past_until = 0;
  if (scalars.past_evidence > -past_rows_nats_ratio * state.constants().decision_nats) return false;
  scalars.past_until = 0;
  return true;
}

// Move the recent shift of the weights by a robust step of recursive least squares on this label. `off`: its error with
// shifted weights.
void update_recent_shift(const State& state, double off) {
  const Scalars& scalars = state.scalars();
  const Fit& fit = state.fit;
  const std::vector<double>& deviation = state.scratch.deviation;
  const double memory = state.constants().drift_memory;
  double h = 0.0;
  for (Index a = 0; a < scalars.m; ++a) {
    for (Index e = 0; e < scalars.m; ++e) h += deviation[a] * fit.p(a, e) * deviation[e];
  }
  const double robust = off / (1.0 + off * off / (4.0 * std::max(noise(scalars), 1e-300)));
  const double step = robust / (memory + std::max(h, 0.0));
  for (Index a = 0; a < scalars.m; ++a) {
    double direction = 0.0;
    for (Index e = 0; e < scalars.m; ++e) direction += fit.p(a, e) * deviation[e];
    double& shift = fit.column[a].recent_shift;
    shift = (1.0 - shift_decay / memory) * shift + step * direction;
  }
}

// At an alarm: divide the weight of the past, and start another regime unless weights only move slowly.
void forget_past(const State& state, double divisor) {
  Scalars& scalars = state.scalars();
  const double weight_before = scalars.row_weight;
  scalars.row_weight *= divisor;
  scalars.refit_at = scalars.n_labels + 1;
  scalars.score_at = 0;
  scalars.memory_start = scalars.n_labels - static_cast<Index>(scalars.sum_weight / scalars.row_weight);
  if (divisor == state.constants().forget) {
    scalars.previous_row_weight = weight_before;
    scalars.previous_regime = scalars.regime;
    scalars.regime = scalars.n_labels + 1;
    scalars.prediction_mse = scalars.y_var;
    scalars.slope_fy = scalars.slope_ff = 0.0;
    scalars.memory_start = scalars.n_labels;
  }
  for (Index a = 0; a < scalars.m; ++a) state.fit.column[a].recent_shift = 0.0;
}

// Update the drift statistics and the trials of past rows and regimes with a label that was predicted as y_hat. Where
// the row lacks members, all deviations from the mean are scaled so that the errors have the variance of whole rows.
void detect_drift(const State& state, const Signal& signal, double f, double y, double y_hat) {
  Scalars& scalars = state.scalars();
  double y_hat_shifted = y_hat;
  for (Index a = 0; a < scalars.m; ++a) {
    y_hat_shifted += state.fit.column[a].recent_shift * state.scratch.deviation[a];
  }
  double scaled_f = f;
  if (signal.hidden > 0.0) {
    const double scale = std::sqrt(hidden_noise_weight(scalars.s2, signal.hidden));
    scaled_f *= scale;
    for (double* label : {&y, &y_hat, &y_hat_shifted}) *label = scalars.y_mean + scale * (*label - scalars.y_mean);
  }
  const double explained = scalars.m > 0 ? state.fit.label->explained : 0.0, alpha = scalars.alpha;
  const DriftDetector detector{state.constants()};
  Drift found = detector.update(scalars, explained, alpha, scaled_f, y, y_hat, y_hat_shifted);
  if (signal.whole) {
    if (past_rows_fail(state, f, y)) found = {state.constants().forget, alpha, 0.0};
    update_recent_shift(state, y - y_hat_shifted);
    RegimeMemory{state}.update(f, y);
  }
  if (found.forget == 1.0) return;
  state.add_alarm({state.last_row() + 1, state.learning, 0.0, found.slope_before, found.slope_after, found.forget, 0});
  forget_past(state, found.forget);
}

// Compare the values of row t with those of the same attributes in the row before, for `autocorrelation`.
void compare_with_row_before(const State& state, Index t) {
  Scalars& scalars = state.scalars();
  if (scalars.n_rows < 2) return;
  const Index size = static_cast<Index>(state.row.size());
  const Row &row = state.row[t], &before = state.row[(t + size - 1) % size];
  const auto values = [&](const Row& of) { return state.value.subspan(of.begin, of.size); };
  for (Index p = before.begin; p < before.begin + before.size; ++p) state.attr[state.value[p].j].scratch_index = p;
  for (const Value& value : values(row)) {
    const Attribute& me = state.attr[value.j];
    if (me.scratch_index < 0) continue;
    const double mean = me.raw_x / me.raw_n, variance = me.raw_xx / me.raw_n - mean * mean;
    if (!(variance > 0.0)) continue;
    const double x = value.x - mean, z = state.value[me.scratch_index].x - mean;
    scalars.lagged_xx += 0.5 * (x * x + z * z) / variance;
    scalars.lagged_xz += x * z / variance;
  }
  for (const Value& value : values(before)) state.attr[value.j].scratch_index = -1;
}

// Returns the correlation of attributes with themselves one row before, averaged over all of them.
double autocorrelation(const State& state) {
  const Scalars& scalars = state.scalars();
  const double rho = scalars.lagged_xz / (scalars.lagged_xx + state.constants().prior_rows);
  return std::clamp(rho, 0.0, most_autocorrelation);
}

// Compare a label with its prediction: update label guard, level, squared error, slope alpha and drift. Returns the
// label as it is learnt: clipped, and without the part of the level that attributes may not explain.
double learn_from_error(const State& state, const Signal& signal, double y) {
  Scalars& scalars = state.scalars();
  const double y_hat = bounded_prediction(state, signal), off = y - y_hat;
  LevelTracker tracker = level_tracker(state);
  const LabelGuard guard{state.constants()};
  const double reach = guard.reach(scalars);
  y = y_hat + guard.clip(scalars, off - tracker.level(), reach);
  const double kept_level = tracker.level() - tracker.learnt_level(autocorrelation(state));
  if (signal.whole && scalars.n_labels >= least_level_labels && scalars.s2 > 0.0) {
    tracker.update(off, reach, noise(scalars), state.rows());
    const double moved = tracker.moved(scalars);
    if (moved != 0.0) {
      const double alpha = scalars.alpha;
      state.add_alarm({state.last_row() + 1, state.learning, moved * scalars.y_unit, alpha, alpha, 1.0, 0});
    }
  }
  const double rows = state.rows(), since = static_cast<double>(scalars.n_labels - scalars.memory_start) + 1.0;
  const double squared_error = (y_hat - y) * (y_hat - y);
  scalars.prediction_mse += (squared_error - scalars.prediction_mse) /
                            std::min(since, std::max(least_error_memory, rows / 4.0));
  const double predicted = std::min(scalars.y_high, std::max(scalars.y_low, scalars.y_mean + signal.f));
  const double f = predicted - scalars.y_mean;
  const double keep = 1.0 - 1.0 / std::max(least_slope_memory, rows / 2.0);
  scalars.slope_fy = keep * scalars.slope_fy + f * (y - scalars.y_mean);
  scalars.slope_ff = keep * scalars.slope_ff + f * f;
  scalars.row_weight /= state.settings().decay;
  if (signal.whole || signal.shown > 0) detect_drift(state, signal, f, y, y_hat);
  return y + kept_level;
}

// Reserve a row of the ring and room for its values; the oldest rows are dropped where there is none. Returns its
// index.
Index reserve_row(const State& state, Index values) {
  Scalars& scalars = state.scalars();
  const Index rows = static_cast<Index>(state.row.size()), size = static_cast<Index>(state.value.size());
  Index begin = scalars.head;
  const bool wraps = begin + values > size;
  if (wraps) begin = 0;
  const auto in_the_way = [&] {  // the values of the oldest row that has any
    for (Index i = 0; i < scalars.n_rows; ++i) {
      const Row& row = state.row[state.stored_row(i)];
      if (row.size == 0) continue;
      return (wraps && row.begin >= scalars.head) || (row.begin < begin + values && begin < row.begin + row.size);
    }
    return false;
  };
  while (scalars.n_rows > 0 && (scalars.n_rows == rows || in_the_way())) {
    scalars.oldest = (scalars.oldest + 1) % rows;
    scalars.n_rows -= 1;
  }
  const Index t = (scalars.oldest + scalars.n_rows) % rows;
  scalars.n_rows += 1;
  state.row[t].begin = begin;
  return t;
}

// Store the observed values, scaled and clipped, in row t.
void store_values(const State& state, Index t, std::span<const Index> attributes, std::span<const double> x) {
  const Scalars& scalars = state.scalars();
  const OutlierClip clip{state.constants()};
  Row& row = state.row[t];
  Index n = 0, last = -1;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    if (std::isnan(x[i])) continue;
    const Index j = attributes[i];
    Attribute& me = state.attr[j];
    if (me.n_observed == 0) me.ref = x[i];
    if (me.unit == 0.0 && x[i] != me.ref) me.unit = power_of_two(x[i] - me.ref);
    const double z = scaled(x[i], me.ref, me.unit);
    state.value[row.begin + n++] = {j, clip.clip(me, z)};
    clip.observe(me, z, scalars.row_weight);
    if (me.source != last) state.source[me.source].n_observed += 1;
    last = me.source;
  }
  row.size = n;
  state.scalars().head = row.begin + n;
}

// Divide all weights and weighted sums by the weight of a new row, before they overflow.
void rescale_weights(const State& state) {
  Scalars& scalars = state.scalars();
  const double g = scalars.row_weight;
  for (std::size_t j = 0; j < state.attr.size(); ++j) {
    Attribute& attribute = state.attr[j];
    if (attribute.n_observed == 0) continue;
    for (double* sum : {&attribute.raw_n, &attribute.raw_x, &attribute.raw_xx, &attribute.sum_weight, &attribute.sum_x,
                        &attribute.sum_xx, &attribute.weighted_n, &attribute.weighted_e, &attribute.weighted_xe}) {
      *sum /= g;
    }
    Pair* pair = state.pair(static_cast<Index>(j));
    for (Index a = 0; a < state.width; ++a) {
      Pair& p = pair[a];
      for (double* sum : {&p.n, &p.x_j, &p.x_a, &p.x_jj, &p.x_aa, &p.x_ja, &p.x_ae, &p.imputed_covariance, &p.partial_n,
                          &p.partial_xa}) {
        *sum /= g;
      }
    }
  }
  for (double& sum : state.partial_products) sum /= g;
  for (Row& row : state.row) row.weight /= g;
  for (StoredRegime& stored : state.stored_regime) stored.row_weight /= g;
  for (Index i = 0; i < scalars.m + 2; ++i) {
    for (Index e = 0; e < scalars.m + 2; ++e) {
      state.fit.g(i, e) /= g;
      if (i < scalars.m && e < scalars.m) state.fit.hid(i, e) /= g;
    }
  }
  scalars.sum_weight /= g;
  scalars.sum_y /= g;
  scalars.sum_yy /= g;
  scalars.previous_row_weight /= g;
  scalars.row_weight = 1.0;
}

}  // namespace

Basket ask(const State& state, std::span<const std::uint8_t> pool, std::span<const double> prices,
           std::vector<Index>& out) {
  Scalars& scalars = state.scalars();
  std::vector<double>& usual = state.scratch.usual_price;
  usual.clear();
  for (std::size_t s = 0; s < prices.size(); ++s) {
    usual.push_back(state.source[s].price);
    state.source[s].price = prices[s];
  }
  const Basket chosen = choose_basket(state, pool, out);
  for (std::size_t s = 0; s < prices.size(); ++s) state.source[s].price = usual[s];
  scalars.n_asked += 1;
  const double sum = scalars.spent + chosen.price;  // compensated, so that the sum stays right to the cent
  scalars.spent_remainder += std::abs(scalars.spent) >= std::abs(chosen.price) ? (scalars.spent - sum) + chosen.price
                                                                  : (chosen.price - sum) + scalars.spent;
  scalars.spent = sum;
  return chosen;
}

Signal compute_signal(const State& state, std::span<const Index> attributes, std::span<const double> x) {
  State::Scratch& s = state.scratch;
  const Scalars& scalars = state.scalars();
  const Fit& fit = state.fit;
  const OutlierClip clip{state.constants()};
  Signal signal{};
  for (Index a = 0; a < scalars.m; ++a) {
    s.deviation[a] = 0.0;
    s.observed[a] = 0;
  }
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const Attribute& me = state.attr[attributes[i]];
    if (me.column < 0 || std::isnan(x[i])) continue;
    const double z = clip.clip(me, scaled(x[i], me.ref, me.unit));
    s.deviation[me.column] = z - fit.column[me.column].x_bar;
    s.observed[me.column] = 1;
    signal.shown += 1;
    if (clip.trusted(me, z)) signal.slack = trusted_range_slack;
  }
  signal.whole = signal.shown == scalars.m;
  if (signal.shown == 0) return signal;
  if (!signal.whole) {
    const Index n_missing = condition_on_observed(state, fit, scalars.m);
    impute_missing(state, fit, scalars.m, n_missing);
    signal.hidden = imputation_noise(state, n_missing);
  }
  double f = fit.label->y_bar - scalars.y_mean, h = 0.0;
  for (Index a = 0; a < scalars.m; ++a) {
    f += fit.column[a].w * s.deviation[a];
    for (Index e = 0; e < scalars.m; ++e) h += s.deviation[a] * fit.v(a, e) * s.deviation[e];
  }
  // Leverage shrinks the signal. Where a trusted outlier leads far, the signal itself is large and is shrunk less.
  const double typical = std::max(scalars.s2, fit.label->explained);
  const double signal2 = signal.slack == trusted_range_slack ? std::max(f * f, typical) : typical;
  signal.h = h;
  signal.f = f / (1.0 + h * scalars.s2 / signal2);
  return signal;
}

Prediction predict(const State& state, std::span<const Index> attributes, std::span<const double> x) {
  const Scalars& scalars = state.scalars();
  if (scalars.n_labels == 0) return {0.0, 0.0};
  const Signal signal = compute_signal(state, attributes, x);
  const double y = bounded_prediction(state, signal) + level_tracker(state).level();
  return {scalars.y_ref + scalars.y_unit * y, scalars.y_unit * expected_deviation(state, signal)};
}

bool must_grow(const State& state, Index values) {
  const Scalars& scalars = state.scalars();
  const bool no_row = scalars.n_rows == static_cast<Index>(state.row.size());
  const bool no_room = scalars.head + values > static_cast<Index>(state.value.size());
  if (no_row) return !(state.store_full & 1);  // where rows cannot grow, the oldest row makes room for values, too
  return no_room && !(state.store_full & 2);
}

namespace {

// Learn everything from a row but a new support. Returns the index of the stored row.
Index learn_row(const State& state, std::span<const Index> attributes, std::span<const double> x, Index before,
                double y) {
  Scalars& scalars = state.scalars();
  if (scalars.row_weight > most_row_weight) rescale_weights(state);
  if (scalars.n_labels == 0) scalars.y_ref = y;
  if (scalars.y_unit == 0.0 && y != scalars.y_ref) scalars.y_unit = power_of_two(y - scalars.y_ref);
  y = scaled(y, scalars.y_ref, scalars.y_unit);
  const Signal signal = compute_signal(state, attributes.first(before), x.first(before));
  if (scalars.n_labels > 0) {
    const double y_hat = bounded_prediction(state, signal), off = y - y_hat - level_tracker(state).level();
    IntervalCalibrator calibrator{state.constants(), state.log_q, state.centre[0]};
    state.level[0] = calibrator.update(std::abs(off), expected_deviation(state, signal), scalars.n_labels);
    if (signal.whole && noise(scalars) > 0.0) {
      const OutlierClip clip{state.constants()};
      for (Index i = 0; i < before; ++i) {
        Attribute& attribute = state.attr[attributes[i]];
        if (attribute.column < 0 || std::isnan(x[i])) continue;
        const double w = scalars.alpha * state.fit.column[attribute.column].w;
        clip.learn(attribute, scaled(x[i], attribute.ref, attribute.unit), w, off, noise(scalars));
      }
    }
    y = learn_from_error(state, signal, y);
  }
  const Index t = reserve_row(state, static_cast<Index>(attributes.size()));
  state.row[t].y = y;
  state.row[t].weight = scalars.row_weight;
  state.row[t].regime = scalars.regime;
  store_values(state, t, attributes, x);
  compare_with_row_before(state, t);
  scalars.sum_weight += scalars.row_weight;
  scalars.sum_y += scalars.row_weight * y;
  scalars.sum_yy += scalars.row_weight * y * y;
  scalars.y_low = std::min(scalars.y_low, y);
  scalars.y_high = std::max(scalars.y_high, y);
  if (scalars.m > 0) add_row_to_fit(state, t);
  scalars.y_mean = scalars.sum_y / scalars.sum_weight;
  scalars.y_var = std::max(scalars.sum_yy / scalars.sum_weight - scalars.y_mean * scalars.y_mean, 1e-300);
  add_to_moments(state, t);
  add_to_weighted_sums(state, t);
  const double slope = scalars.slope_fy / (scalars.slope_ff + state.constants().alpha_ridge * scalars.s2);
  scalars.alpha = scalars.slope_fy > 0.0 ? std::min(1.0, slope) : 0.0;
  scalars.n_labels += 1;
  return t;
}

void refit_now(const State& state) {
  RegimeMemory{state}.advance();
  refit(state);
}

}  // namespace

void tell(const State& state, std::span<const Index> attributes, std::span<const double> x, Index before, double y) {
  Scalars& scalars = state.scalars();
  const Index t = learn_row(state, attributes, x, before, y);
  if (rescore_shown_candidates(state, t)) scalars.refit_at = scalars.score_at = scalars.n_labels;
  if (scalars.n_labels >= scalars.refit_at) refit_now(state);
}

Index learn(const State& state, const double* X, const double* y, Index n, Index first) {
  Scalars& scalars = state.scalars();
  const Index d = static_cast<Index>(state.attr.size());
  std::vector<Index> attributes;
  std::vector<double> x;
  state.learning = 1;
  if (first == n) {  // the fit has got the columns that it lacked after the last row
    scalars.score_at = 0;
    refit_now(state);
  }
  // A few rows beside many known ones wait for the next refit, as a round does.
  const bool many = few_past_rows_ratio * n >= scalars.n_labels + n - first;
  Index t = first;
  for (; t < n && scalars.columns_needed <= state.width; ++t) {
    attributes.clear();
    x.clear();
    const double* row = X + t * d;
    for (Index a = 0; a < scalars.m; ++a) {  // what a round would have bought comes before the label
      attributes.push_back(state.fit.column[a].j);
      x.push_back(row[attributes.back()]);
    }
    const Index before = scalars.m;
    for (const Index j : state.source_attributes) {
      if (state.attr[j].column >= 0 || std::isnan(row[j])) continue;
      attributes.push_back(j);
      x.push_back(row[j]);
    }
    learn_row(state, attributes, x, before, y[t]);
    scalars.n_past_rows += 1;
    const bool trial_ends = scalars.regime_on_trial > 0 && scalars.refit_at <= scalars.n_labels;
    const bool regime_changes = scalars.previous_row_weight > 0.0 || trial_ends;
    // Every row shows all candidates, so scoring costs much: it is done each time the number of rows has grown by half.
    if (regime_changes || (many && t + 1 == n) || scalars.n_labels >= scalars.refit_at) {
      scalars.score_at = 0;
      refit_now(state);
      const Index half = scalars.n_labels / 2;
      if (many) scalars.refit_at = scalars.score_at = scalars.n_labels + std::max(first_past_refit, half);
    }
  }
  if (t == n) {
    if (many) scalars.refit_at = scalars.score_at = scalars.n_labels + 1;
    scalars.past_s2 = scalars.s2;
    scalars.past_evidence = 0.0;
    scalars.past_until = scalars.n_labels + past_rows_trial;
  }
  state.learning = 0;
  return t;
}

Index play(const State& state, std::span<const std::uint8_t> pool, const Rows& rows, Index first) {
  std::vector<Index> out;
  std::vector<double> x;
  for (Index t = first; t < rows.n; ++t) {
    if (must_grow(state, rows.most_values) || state.scalars().columns_needed > state.width) return t;
    const Basket bought = ask(state, pool, rows.row_prices(t), out);
    const Index all = static_cast<Index>(out.size());
    x.resize(out.size());
    for (Index i = 0; i < all; ++i) x[i] = rows.X[t * rows.d + out[i]];
    std::copy(out.begin(), out.end(), rows.bought + t * rows.most_values);
    rows.sizes[3 * t] = bought.attributes;
    rows.sizes[3 * t + 1] = bought.extras;
    rows.sizes[3 * t + 2] = bought.sources;
    rows.prices[t] = bought.price;
    rows.explored[t] = bought.explores;
    const std::span<const Index> attributes(out);
    const std::span<const double> values(x);
    rows.predictions[t] =
        predict(state, attributes.first(bought.attributes), values.first(bought.attributes)).centre;
    if (std::isnan(rows.y[t])) continue;
    tell(state, attributes, values, bought.attributes, rows.y[t]);
    rows.levels[t] = state.level[0];
  }
  return rows.n;
}

}  // namespace keyhole::thrifty
