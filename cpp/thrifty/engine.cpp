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

// A prediction from trusted outliers may leave the range of the labels. The weight of the present beyond which all sums
// are divided by it.
constexpr double unbounded = 1e6, heavy = 1e30;
// Past rows before the support is chosen from them for the first time.
constexpr Index first_past_refit = 20;
// Past rows are few if there are fewer than one for this many rows that are known then.
constexpr Index few_past_rows = 50;
// Rows in which past rows may be rejected, and the evidence that takes over that which rejects a regime.
constexpr Index past_trial = 100;
constexpr double past_nats = 2.0;

LevelTracker level_of(const State& state) { return {state.K(), state.account}; }

double answer(const State& state, const Signal& said) {
  const Now& now = state.now();
  const double slack = said.slack * (now.y_high - now.y_low);
  return std::min(now.y_high + slack, std::max(now.y_low - slack, now.y_mean + now.alpha * said.f));
}

// s2 (1 + h) + what alpha holds back + what is not seen; without any column the label's own variance.
double spread(const State& state, const Signal& said) {
  const Now& now = state.now();
  if (said.shown == 0) return std::sqrt(now.y_var);
  double hidden = 0.0;
  for (Index a = 0; a < now.m; ++a) {
    const Column& column = state.fit.column[a];
    if (!state.scratch.seen[a]) hidden += column.w * column.w * column.cond;
  }
  const double held = (1.0 - now.alpha) * (1.0 - now.alpha) * state.fit.label->explained;
  return std::sqrt(now.s2 * (1.0 + std::max(said.h, 0.0)) + held + hidden);
}

void raise(const State& state, double level, double before, double after, double forgotten) {
  Now& now = state.now();
  state.alarm[now.n_alarms % static_cast<Index>(state.alarm.size())] = {
      now.n_labels + 1 - (state.learning ? 0 : now.n_past), state.learning, level, before, after, forgotten, 0};
  now.n_alarms += 1;
}

// Whether the world of the past rows is another one: their fit on new labels, against the mean of the labels.
bool past_fails(const State& state, double f, double y) {
  Now& now = state.now();
  if (state.learning || now.n_labels >= now.past_until || now.past_s2 <= 0.0) return false;
  now.past_evidence += fit_against_mean(now, y - now.y_mean - f, y - now.y_mean, now.past_s2);
  if (now.past_evidence > state.K().regime_nats) now.past_until = 0;
  if (now.past_evidence > -past_nats * state.K().regime_nats) return false;
  now.past_until = 0;
  return true;
}

// Drift: compare with the recalibration and with bent weights; at an alarm the past is divided by K.forget.
void notice(const State& state, double f, double y, double y_hat) {
  Now& now = state.now();
  const Fit& fit = state.fit;
  const State::Scratch& s = state.scratch;
  double bent = y_hat, h = 0.0;
  for (Index a = 0; a < now.m; ++a) bent += fit.column[a].bend * s.v[a];
  const double explained = now.m > 0 ? fit.label->explained : 0.0;
  Drift found = DriftDetector{state.K()}.update(now, explained, now.alpha, f, y, y_hat, bent);
  if (past_fails(state, f, y)) found = {state.K().forget, now.alpha, 0.0};
  for (Index a = 0; a < now.m; ++a) {
    for (Index e = 0; e < now.m; ++e) h += s.v[a] * fit.p(a, e) * s.v[e];
  }
  const double off = y - bent, memory = state.K().drift_memory;
  const double step = off / (1.0 + off * off / (4.0 * std::max(noise(now), 1e-300))) / (memory + std::max(h, 0.0));
  for (Index a = 0; a < now.m; ++a) {
    double move = 0.0;
    for (Index e = 0; e < now.m; ++e) move += fit.p(a, e) * s.v[e];
    fit.column[a].bend = (1.0 - 0.2 / memory) * fit.column[a].bend + step * move;
  }
  RegimeMemory{state}.update(f, y);
  if (found.forget == 1.0) return;
  raise(state, 0.0, found.slope_before, found.slope_after, found.forget);
  const double before = now.row_weight;
  now.row_weight *= found.forget;
  now.refit_at = now.n_labels + 1;
  now.score_at = 0;
  now.epoch = now.n_labels - static_cast<Index>(now.n / now.row_weight);
  if (found.forget == state.K().forget) {  // another regime, not one that moves
    now.regime_ended = before;
    now.regime_left = now.regime;
    now.regime = now.n_labels + 1;
    now.error2 = now.y_var;
    now.fy = now.ff = 0.0;
    now.epoch = now.n_labels;
  }
  for (Index a = 0; a < now.m; ++a) fit.column[a].bend = 0.0;
}

// Compare with the prediction: level, drift, running squared error, calibration slope. The label as it is learnt.
double compare(const State& state, const Signal& said, double y, bool whole) {
  Now& now = state.now();
  const Constants& K = state.K();
  const double y_hat = answer(state, said), off = y - y_hat;
  LevelTracker tracker = level_of(state);
  const LabelGuard guard{K};
  const double reach = guard.reach(now);
  y = y_hat + guard.clip(now, off - tracker.level(), reach);
  if (whole && now.n_labels >= 30 && now.s2 > 0.0) {
    tracker.update(off, reach, noise(now), state.rows());
    const double moved = tracker.moved(now);
    if (moved != 0.0) raise(state, moved * now.y_unit, now.alpha, now.alpha, 1.0);
  }
  const double rows = state.rows(), since = static_cast<double>(now.n_labels - now.epoch) + 1.0;
  now.error2 += ((y_hat - y) * (y_hat - y) - now.error2) / std::min(since, std::max(30.0, rows / 4.0));
  const double inside = std::min(now.y_high, std::max(now.y_low, now.y_mean + said.f)) - now.y_mean;
  const double keep = 1.0 - 1.0 / std::max(50.0, rows / 2.0);
  now.fy = keep * now.fy + inside * (y - now.y_mean);
  now.ff = keep * now.ff + inside * inside;
  now.row_weight /= state.given().decay;
  if (whole) notice(state, inside, y, y_hat);
  return y;
}

// Room for a row in the ring; its index. The oldest rows give way.
Index store(const State& state, Index values) {
  Now& now = state.now();
  const Index rows = static_cast<Index>(state.row.size()), size = static_cast<Index>(state.value.size());
  Index begin = now.head;
  const bool wraps = begin + values > size;
  if (wraps) begin = 0;
  const auto gives_way = [&](const Row& row) {
    if (row.size == 0) return false;
    return (wraps && row.begin >= now.head) || (row.begin < begin + values && begin < row.begin + row.size);
  };
  while (now.n_rows > 0 && (now.n_rows == rows || gives_way(state.row[now.oldest]))) {
    now.oldest = (now.oldest + 1) % rows;
    now.n_rows -= 1;
  }
  const Index t = (now.oldest + now.n_rows) % rows;
  now.n_rows += 1;
  state.row[t].begin = begin;
  return t;
}

// The observed values, scaled and clipped, into row t.
void keep_values(const State& state, Index t, std::span<const Index> attributes, std::span<const double> x) {
  const Now& now = state.now();
  const OutlierClip clip{state.K()};
  Row& row = state.row[t];
  Index n = 0, last = -1;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    if (std::isnan(x[i])) continue;
    const Index j = attributes[i];
    Attribute& me = state.attr[j];
    if (me.observed == 0) me.ref = x[i];
    if (me.unit == 0.0 && x[i] != me.ref) me.unit = power_of_two(x[i] - me.ref);
    const double z = scaled(x[i], me.ref, me.unit);
    state.value[row.begin + n++] = {j, clip.clip(me, z)};
    clip.observe(me, z, now.row_weight);
    if (me.source != last) state.source[me.source].observed += 1;
    last = me.source;
  }
  row.size = n;
  state.now().head = row.begin + n;
}

void renew(const State& state) {
  Now& now = state.now();
  const double g = now.row_weight;
  for (std::size_t j = 0; j < state.attr.size(); ++j) {
    Attribute& me = state.attr[j];
    if (me.observed == 0) continue;
    for (double* sum : {&me.raw_n, &me.raw_x, &me.raw_xx, &me.n, &me.x, &me.xx, &me.h, &me.e, &me.xe}) *sum /= g;
    Pair* pair = state.pair(static_cast<Index>(j));
    for (Index a = 0; a < state.width; ++a) {
      Pair& p = pair[a];
      for (double* sum : {&p.n, &p.x_j, &p.x_a, &p.x_jj, &p.x_aa, &p.x_ja, &p.x_ae, &p.pull, &p.own_n, &p.own_xa}) {
        *sum /= g;
      }
    }
  }
  for (double& sum : state.within) sum /= g;
  for (Row& row : state.row) row.weight /= g;
  for (Kept& kept : state.kept) kept.row_weight /= g;
  for (Index i = 0; i < now.m + 2; ++i) {
    for (Index e = 0; e < now.m + 2; ++e) {
      state.fit.g(i, e) /= g;
      if (i < now.m && e < now.m) state.fit.hid(i, e) /= g;
    }
  }
  now.n /= g;
  now.y /= g;
  now.yy /= g;
  now.regime_ended /= g;
  now.row_weight = 1.0;
}

}  // namespace

Basket ask(const State& state, std::span<const std::uint8_t> pool, std::span<const double> prices,
           std::vector<Index>& out) {
  Now& now = state.now();
  std::vector<double>& usual = state.scratch.usual_price;
  usual.clear();
  for (std::size_t s = 0; s < prices.size(); ++s) {
    usual.push_back(state.source[s].price);
    state.source[s].price = prices[s];
  }
  const Basket chosen = choose(state, pool, out);
  for (std::size_t s = 0; s < prices.size(); ++s) state.source[s].price = usual[s];
  now.n_asked += 1;
  const double sum = now.spent + chosen.price;  // compensated: right to the cent
  now.spent_low += std::abs(now.spent) >= std::abs(chosen.price) ? (now.spent - sum) + chosen.price
                                                                  : (chosen.price - sum) + now.spent;
  now.spent = sum;
  return chosen;
}

Signal signal(const State& state, std::span<const Index> attributes, std::span<const double> x) {
  State::Scratch& s = state.scratch;
  const Now& now = state.now();
  const Fit& fit = state.fit;
  const OutlierClip clip{state.K()};
  Signal said{0.0, 0.0, 0, state.K().range_slack};
  for (Index a = 0; a < now.m; ++a) {
    s.v[a] = 0.0;
    s.seen[a] = 0;
  }
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const Attribute& me = state.attr[attributes[i]];
    if (me.place < 0 || std::isnan(x[i])) continue;
    const double z = clip.clip(me, scaled(x[i], me.ref, me.unit));
    s.v[me.place] = z - fit.column[me.place].x_bar;
    s.seen[me.place] = 1;
    said.shown += 1;
    if (clip.trusted(me, z)) said.slack = unbounded;
  }
  if (said.shown == 0) return said;
  if (said.shown < now.m) expect(state, fit, now.m, condition(state, fit, now.m));
  double f = fit.label->y_bar - now.y_mean, h = 0.0;
  for (Index a = 0; a < now.m; ++a) {
    f += fit.column[a].w * s.v[a];
    for (Index e = 0; e < now.m; ++e) h += s.v[a] * fit.v(a, e) * s.v[e];
  }
  // Where a trusted outlier leads far, a weight that is well known is not to blame for the leverage.
  const double typical = std::max(now.s2, fit.label->explained);
  const double signal2 = said.slack == unbounded ? std::max(f * f, typical) : typical;
  said.h = h;
  said.f = f / (1.0 + h * now.s2 / signal2);
  return said;
}

Prediction predict(const State& state, std::span<const Index> attributes, std::span<const double> x) {
  const Now& now = state.now();
  if (now.n_labels == 0) return {state.given().label_center, 0.0};
  const Signal said = signal(state, attributes, x);
  const double y = answer(state, said) + level_of(state).level();
  return {now.y_ref + now.y_unit * y, now.y_unit * spread(state, said)};
}

bool must_grow(const State& state, Index values) {
  const Now& now = state.now();
  const bool rows = !(state.store_full & 1) && now.n_rows == static_cast<Index>(state.row.size());
  const bool room = !(state.store_full & 2) && now.head + values > static_cast<Index>(state.value.size());
  return rows || room;
}

namespace {

// Everything that a row teaches but another support: the stored row.
Index absorb(const State& state, std::span<const Index> attributes, std::span<const double> x, Index before, double y) {
  Now& now = state.now();
  if (now.n_labels == 0) now.y_ref = y;
  if (now.y_unit == 0.0 && y != now.y_ref) now.y_unit = power_of_two(y - now.y_ref);
  y = scaled(y, now.y_ref, now.y_unit);
  const Signal said = signal(state, attributes.first(before), x.first(before));
  const bool whole = said.shown == now.m;
  if (now.n_labels > 0) {
    const double y_hat = answer(state, said), off = y - y_hat - level_of(state).level();
    IntervalCalibrator calibrator{state.K(), state.log_q, state.centre[0]};
    state.level[0] = calibrator.update(std::abs(off), spread(state, said), now.n_labels);
    if (whole && noise(now) > 0.0) {
      const OutlierClip clip{state.K()};
      for (Index i = 0; i < before; ++i) {
        Attribute& me = state.attr[attributes[i]];
        if (me.place < 0 || std::isnan(x[i])) continue;
        const double w = now.alpha * state.fit.column[me.place].w;
        clip.learn(me, scaled(x[i], me.ref, me.unit), w, off, noise(now));
      }
    }
    y = compare(state, said, y, whole);
  }
  const Index t = store(state, static_cast<Index>(attributes.size()));
  state.row[t].y = y;
  state.row[t].weight = now.row_weight;
  state.row[t].regime = now.regime;
  keep_values(state, t, attributes, x);
  now.n += now.row_weight;
  now.y += now.row_weight * y;
  now.yy += now.row_weight * y * y;
  now.y_low = std::min(now.y_low, y);
  now.y_high = std::max(now.y_high, y);
  if (now.m > 0) extend(state, t);
  now.y_mean = now.y / now.n;
  now.y_var = std::max(now.yy / now.n - now.y_mean * now.y_mean, 1e-300);
  count(state, t);
  accumulate(state, t);
  now.alpha = now.fy > 0.0 ? std::min(1.0, now.fy / (now.ff + state.K().timid * now.s2)) : 0.0;
  now.n_labels += 1;
  return t;
}

void refit_now(const State& state) {
  if (state.now().row_weight > heavy) renew(state);
  RegimeMemory{state}.advance();
  refit(state);
}

}  // namespace

void tell(const State& state, std::span<const Index> attributes, std::span<const double> x, Index before, double y) {
  Now& now = state.now();
  const Index t = absorb(state, attributes, x, before, y);
  if (refresh(state, t)) now.refit_at = now.score_at = now.n_labels;
  if (now.n_labels >= now.refit_at) refit_now(state);
}

Index learn(const State& state, const double* X, const double* y, Index n, Index first) {
  Now& now = state.now();
  const Index d = static_cast<Index>(state.attr.size());
  std::vector<Index> attributes;
  std::vector<double> x;
  state.learning = 1;
  // A few rows beside many that are known wait for the next fit, as a round does.
  const bool many = few_past_rows * n >= now.n_labels + n - first;
  Index t = first;
  for (; t < n && now.wants_columns <= state.width; ++t) {
    attributes.clear();
    x.clear();
    const double* row = X + t * d;
    for (Index a = 0; a < now.m; ++a) {  // what a round would have bought comes before the label
      attributes.push_back(state.fit.column[a].j);
      x.push_back(row[attributes.back()]);
    }
    const Index before = now.m;
    for (const Index j : state.listed) {
      if (state.attr[j].place >= 0 || std::isnan(row[j])) continue;
      attributes.push_back(j);
      x.push_back(row[j]);
    }
    absorb(state, attributes, x, before, y[t]);
    now.n_past += 1;
    const bool due = now.regime_ended > 0.0 || (now.trial > 0 && now.refit_at <= now.n_labels);
    // All candidates are shown by every row: to score them is dear, and done each time the rows have grown by half.
    if (due || (many && t + 1 == n) || now.n_labels >= now.refit_at) {
      now.score_at = 0;
      refit_now(state);
      if (many) now.refit_at = now.score_at = now.n_labels + std::max<Index>(first_past_refit, now.n_labels / 2);
    }
  }
  if (t == n) {
    if (many) now.refit_at = now.score_at = now.n_labels + 1;
    now.past_s2 = now.s2;
    now.past_evidence = 0.0;
    now.past_until = now.n_labels + past_trial;
  }
  state.learning = 0;
  return t;
}

Index play(const State& state, std::span<const std::uint8_t> pool, const Rows& rows, Index first) {
  std::vector<Index> out;
  std::vector<double> x;
  for (Index t = first; t < rows.n; ++t) {
    if (must_grow(state, rows.most_values) || state.now().wants_columns > state.width) return t;
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
