#include "thrifty/regime_memory.hpp"

#include "thrifty/fit.hpp"

namespace keyhole::thrifty {

namespace {

// Rows below which there is nothing to come back to; rows by which an alarm may be late; rows of a trial; a weight of the
// present, then, that is still a number.
constexpr Index fewest = 100, late = 200, longest = 40, nobody = -1;
constexpr double lightest = 1e-200;

template <class Do>
Index for_rows(const State& state, Index regime, Do&& act) {
  const Now& now = state.now();
  Index n = 0;
  for (Index i = now.n_rows - 1; i >= 0; --i) {  // newest first
    Row& row = state.row[(now.oldest + i) % static_cast<Index>(state.row.size())];
    if (row.regime != regime) continue;
    act(row, n);
    ++n;
  }
  return n;
}

}  // namespace

void RegimeMemory::update(double f, double y) const {
  Now& now = state.now();
  if (now.trial == 0 || now.s2 <= 0.0) return;
  now.trial_evidence += fit_against_mean(now, y - now.y_mean - f, y - now.y_mean, now.s2);
  if (decided()) now.refit_at = now.n_labels + 1;
}

bool RegimeMemory::decided() const {
  const Now& now = state.now();
  return std::abs(now.trial_evidence) > state.K().regime_nats || now.n_labels - now.trial_at >= longest;
}

void RegimeMemory::advance() const {
  Now& now = state.now();
  if (now.regime_ended > 0.0) {
    if (now.trial > 0) reject(now.trial - 1);  // neither held
    keep();
    now.regime_ended = 0.0;
    try_next(false);
  } else if (now.trial > 0 && now.trial_evidence > state.K().regime_nats) {
    accept(now.trial - 1);
  } else if (now.trial > 0 && decided()) {
    reject(now.trial - 1);
    try_next(true);
  }
}

void RegimeMemory::keep() const {
  Now& now = state.now();
  for (Kept& kept : state.kept) kept.tried = 0;
  if (now.n_members == 0) return;
  // The last rows of what ended may be of another regime: a tenth, and 200 at least, but half at most.
  const Index n = for_rows(state, now.regime_left, [](Row&, Index) {});
  const Index last = std::min(n / 2, std::max(n / 10, late));
  for_rows(state, now.regime_left, [&](Row& row, Index i) { row.regime = i < last ? nobody : row.regime; });
  Index at = 0;
  for (Index i = 1; i < static_cast<Index>(state.kept.size()); ++i) {
    const auto age = [&](Index e) { return state.kept[e].n == 0 ? -1 : state.kept[e].ended; };
    if (age(i) < age(at)) at = i;
  }
  state.kept[at] = {now.regime_left, now.n_labels, now.regime_ended, now.s2, 0, 1};
  Index* who = state.kept_sources.data() + at * static_cast<Index>(state.source.size());
  for (const Member& b : members(state)) {
    if (!state.source[b.source].always) who[state.kept[at].n++] = b.source;
  }
}

void RegimeMemory::try_next(bool failed) const {
  Now& now = state.now();
  while (true) {
    Index best = -1, last = -1;
    for (Index i = 0; i < static_cast<Index>(state.kept.size()); ++i) {
      const Kept& kept = state.kept[i];
      if (kept.n == 0) continue;
      if (last < 0 || kept.ended > state.kept[last].ended) last = i;
      if (!kept.tried && (best < 0 || kept.ended > state.kept[best].ended)) best = i;
    }
    if (best < 0) {
      if (failed && last >= 0) {
        start(-1.0);
        now.refit_sources = last + 1;
      }
      return;
    }
    Kept& kept = state.kept[best];
    kept.tried = 1;
    const Index n = for_rows(state, kept.regime, [](Row&, Index) {});
    if (kept.row_weight < lightest || n < fewest) {
      kept.n = 0;
      continue;
    }
    const double g = now.row_weight, by = g / kept.row_weight;
    for_rows(state, kept.regime, [&](Row& row, Index) { row.weight = std::min(row.weight * by, g); });
    kept.row_weight = g;
    now.trial = best + 1;
    now.trial_at = now.n_labels;
    now.trial_evidence = 0.0;
    start(kept.s2);
    now.refit_sources = best + 1;
    return;
  }
}

void RegimeMemory::reject(Index i) const {
  Kept& kept = state.kept[i];
  for_rows(state, kept.regime, [&](Row& row, Index) { row.weight /= state.K().forget; });
  kept.row_weight /= state.K().forget;
  state.now().trial = 0;
}

void RegimeMemory::accept(Index i) const {
  Now& now = state.now();
  Kept& kept = state.kept[i];
  for_rows(state, now.regime, [&](Row& row, Index) { row.regime = kept.regime; });
  state.alarm[now.n_alarms % static_cast<Index>(state.alarm.size())] = {
      now.n_labels - (state.learning ? 0 : now.n_past), state.learning, 0.0, 0.0, 0.0, 1.0, kept.ended};
  now.n_alarms += 1;
  now.regime = kept.regime;
  now.trial = 0;
  kept.n = 0;
}

// Sums, slope and errors from the stored rows as they weigh now; s2: what errors are expected to be, < 0: the label's.
void RegimeMemory::start(double s2) const {
  Now& now = state.now();
  now.n = now.y = now.yy = 0.0;
  std::vector<double> n(state.attr.size(), 0.0), x(n), xx(n);
  for (Index i = 0; i < now.n_rows; ++i) {
    const Row& row = state.row[(now.oldest + i) % static_cast<Index>(state.row.size())];
    now.n += row.weight;
    now.y += row.weight * row.y;
    now.yy += row.weight * row.y * row.y;
    for (Index p = row.begin; p < row.begin + row.size; ++p) {
      const Value& value = state.value[p];
      n[value.j] += row.weight;
      x[value.j] += row.weight * value.x;
      xx[value.j] += row.weight * value.x * value.x;
    }
  }
  now.y_mean = now.y / now.n;
  now.y_var = std::max(now.yy / now.n - now.y_mean * now.y_mean, 1e-300);
  for (std::size_t j = 0; j < n.size(); ++j) {
    if (n[j] <= 0.0) continue;
    state.attr[j].raw_n = n[j];
    state.attr[j].raw_x = x[j];
    state.attr[j].raw_xx = xx[j];
  }
  now.error2 = s2 < 0.0 ? now.y_var : s2;
  now.fy = now.ff = now.alpha = 0.0;
  now.epoch = now.n_labels;
  now.score_at = 0;
}

}  // namespace keyhole::thrifty
