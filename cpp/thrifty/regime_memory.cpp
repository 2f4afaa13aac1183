#include "thrifty/regime_memory.hpp"

#include "thrifty/fit.hpp"

namespace keyhole::thrifty {

namespace {

// Rows that a regime must have left in the store to be tried.
constexpr Index least_regime_rows = 100;
// Rows by which an alarm may be late, at least; else a tenth of the rows of the regime.
constexpr Index least_alarm_delay = 200;
// Rows after which a trial ends undecided.
constexpr Index longest_trial = 40;
// The regime of rows that may belong to either side of an alarm.
constexpr Index no_regime = -1;
// The least weight that can still be scaled back to that of a new row.
constexpr double least_row_weight = 1e-200;

// Call act(row, i) for the rows of a regime, newest first; returns how many there are.
template <class Do>
Index for_rows(const State& state, Index regime, Do&& act) {
  const Scalars& scalars = state.scalars();
  Index n = 0;
  for (Index i = scalars.n_rows - 1; i >= 0; --i) {
    Row& row = state.row[state.stored_row(i)];
    if (row.regime != regime) continue;
    act(row, n);
    ++n;
  }
  return n;
}

}  // namespace

void RegimeMemory::update(double f, double y) const {
  Scalars& scalars = state.scalars();
  if (scalars.regime_on_trial == 0 || scalars.s2 <= 0.0) return;
  scalars.trial_evidence += fit_against_mean(scalars, y - scalars.y_mean - f, y - scalars.y_mean, scalars.s2);
  if (decided()) scalars.refit_at = scalars.n_labels + 1;
}

bool RegimeMemory::decided() const {
  const Scalars& scalars = state.scalars();
  if (scalars.n_labels - scalars.trial_start >= longest_trial) return true;
  return std::abs(scalars.trial_evidence) > state.constants().decision_nats;
}

void RegimeMemory::advance() const {
  Scalars& scalars = state.scalars();
  if (scalars.previous_row_weight > 0.0) {
    if (scalars.regime_on_trial > 0) reject(scalars.regime_on_trial - 1);  // it does not hold either
    store_previous();
    scalars.previous_row_weight = 0.0;
    try_next(false);
  } else if (scalars.regime_on_trial > 0 && scalars.trial_evidence > state.constants().decision_nats) {
    accept(scalars.regime_on_trial - 1);
  } else if (scalars.regime_on_trial > 0 && decided()) {
    reject(scalars.regime_on_trial - 1);
    try_next(true);
  }
}

void RegimeMemory::store_previous() const {
  Scalars& scalars = state.scalars();
  for (StoredRegime& stored : state.stored_regime) stored.tried = 0;
  if (scalars.n_members == 0) return;
  // The last rows before the alarm may belong to the next regime: a tenth, at least 200, but at most half of all.
  const Index n = for_rows(state, scalars.previous_regime, [](Row&, Index) {});
  const Index last = std::min(n / 2, std::max(n / 10, least_alarm_delay));
  for_rows(state, scalars.previous_regime, [&](Row& row, Index i) { row.regime = i < last ? no_regime : row.regime; });
  Index oldest = 0;  // an empty place, or that of the regime which ended first
  const auto end = [&](Index i) { return state.stored_regime[i].n_members == 0 ? -1 : state.stored_regime[i].ended_at; };
  for (Index i = 1; i < static_cast<Index>(state.stored_regime.size()); ++i) {
    if (end(i) < end(oldest)) oldest = i;
  }
  StoredRegime& stored = state.stored_regime[oldest];
  const Index row = state.learning ? -state.last_row() : state.last_row();
  stored = {scalars.previous_regime, scalars.n_labels, row, scalars.previous_row_weight, scalars.s2, 0, 1};
  Index* stored_members = state.stored_regime_members.data() + oldest * static_cast<Index>(state.source.size());
  for (const Member& b : members(state)) {
    if (!state.source[b.source].free) stored_members[stored.n_members++] = b.source;
  }
}

void RegimeMemory::try_next(bool after_rejection) const {
  Scalars& scalars = state.scalars();
  while (true) {
    Index next = -1, last = -1;  // the last that ended of those not tried, and of all
    for (Index i = 0; i < static_cast<Index>(state.stored_regime.size()); ++i) {
      const StoredRegime& stored = state.stored_regime[i];
      if (stored.n_members == 0) continue;
      if (last < 0 || stored.ended_at > state.stored_regime[last].ended_at) last = i;
      if (!stored.tried && (next < 0 || stored.ended_at > state.stored_regime[next].ended_at)) next = i;
    }
    if (next < 0) {
      if (after_rejection && last >= 0) {  // back to the members at the alarm
        restart_sums(-1.0);
        scalars.refit_regime = last + 1;
      }
      return;
    }
    StoredRegime& stored = state.stored_regime[next];
    stored.tried = 1;
    const Index n = for_rows(state, stored.regime, [](Row&, Index) {});
    if (stored.row_weight >= least_row_weight && n >= least_regime_rows) {
      start_trial(next);
      return;
    }
    stored.n_members = 0;
  }
}

void RegimeMemory::start_trial(Index i) const {
  Scalars& scalars = state.scalars();
  StoredRegime& stored = state.stored_regime[i];
  const double weight = scalars.row_weight, ratio = weight / stored.row_weight;
  for_rows(state, stored.regime, [&](Row& row, Index) { row.weight = std::min(row.weight * ratio, weight); });
  stored.row_weight = weight;
  scalars.regime_on_trial = i + 1;
  scalars.trial_start = scalars.n_labels;
  scalars.trial_evidence = 0.0;
  restart_sums(stored.s2);
  scalars.refit_regime = i + 1;
}

void RegimeMemory::reject(Index i) const {
  StoredRegime& stored = state.stored_regime[i];
  for_rows(state, stored.regime, [&](Row& row, Index) { row.weight /= state.constants().forget; });
  stored.row_weight /= state.constants().forget;
  state.scalars().regime_on_trial = 0;
}

void RegimeMemory::accept(Index i) const {
  Scalars& scalars = state.scalars();
  StoredRegime& stored = state.stored_regime[i];
  for_rows(state, scalars.regime, [&](Row& row, Index) { row.regime = stored.regime; });
  state.add_alarm({state.last_row(), state.learning, 0.0, 0.0, 0.0, 1.0, stored.ended_row});
  scalars.regime = stored.regime;
  scalars.regime_on_trial = 0;
  stored.n_members = 0;
}

// Build the sums over the stored rows again with their present weights, and restart slope and error. expected_error:
// the squared error to start with, < 0: the variance of the label.
void RegimeMemory::restart_sums(double expected_error) const {
  Scalars& scalars = state.scalars();
  scalars.sum_weight = scalars.sum_y = scalars.sum_yy = 0.0;
  std::vector<double> n(state.attr.size(), 0.0), x(n), xx(n);
  for (Index i = 0; i < scalars.n_rows; ++i) {
    const Row& row = state.row[state.stored_row(i)];
    scalars.sum_weight += row.weight;
    scalars.sum_y += row.weight * row.y;
    scalars.sum_yy += row.weight * row.y * row.y;
    for (Index p = row.begin; p < row.begin + row.size; ++p) {
      const Value& value = state.value[p];
      n[value.j] += row.weight;
      x[value.j] += row.weight * value.x;
      xx[value.j] += row.weight * value.x * value.x;
    }
  }
  scalars.y_mean = scalars.sum_y / scalars.sum_weight;
  scalars.y_var = std::max(scalars.sum_yy / scalars.sum_weight - scalars.y_mean * scalars.y_mean, 1e-300);
  for (std::size_t j = 0; j < n.size(); ++j) {
    if (n[j] <= 0.0) continue;
    state.attr[j].raw_n = n[j];
    state.attr[j].raw_x = x[j];
    state.attr[j].raw_xx = xx[j];
  }
  scalars.prediction_mse = expected_error < 0.0 ? scalars.y_var : expected_error;
  scalars.slope_fy = scalars.slope_ff = scalars.alpha = 0.0;
  scalars.memory_start = scalars.n_labels;
  scalars.score_at = 0;
}

}  // namespace keyhole::thrifty
