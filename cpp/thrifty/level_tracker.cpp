#include "thrifty/level_tracker.hpp"

namespace keyhole::thrifty {

namespace {

// Changes of the level that are expected in all rows so far, where it was constant until now.
constexpr double expected_changes = 0.2;
// Ratio of squares: how far beyond its usual distance from the reported level the level must be to be reported.
constexpr double unusual = 9.0;
// Rows: memory of that usual distance.
constexpr double distance_memory = 4000.0;
// Rows that the level must stay there.
constexpr Index least_rows_away = 100;

}  // namespace

void LevelTracker::update(double off, double reach, double s2, double rows) {
  double log_likelihood[4], best = -1e300, total = 0.0;
  for (std::size_t e = 0; e < experts.size(); ++e) {
    log_likelihood[e] = log_t(off - experts[e].level, s2);
    best = std::max(best, log_likelihood[e]);
  }
  for (std::size_t e = 0; e < experts.size(); ++e) {
    LevelExpert& expert = experts[e];
    expert.weight *= std::exp(log_likelihood[e] - best);
    total += expert.weight;
    expert.level += expert.gain * std::clamp(off - expert.level, -reach, reach);
  }
  for (LevelExpert& expert : experts) expert.weight /= total;

  // Fixed share: part of each weight goes to the others in equal parts, and takes its level along.
  const double others = static_cast<double>(experts.size()) - 1.0;
  const double leave_first = std::min(constants.level_leave, expected_changes / rows);
  const auto leaving_weight = [&](std::size_t e) {
    return (e > 0 ? constants.level_switch : leave_first) * experts[e].weight;
  };
  double leaving = 0.0, leaving_level = 0.0;
  for (std::size_t e = 0; e < experts.size(); ++e) {
    leaving += leaving_weight(e);
    leaving_level += leaving_weight(e) * experts[e].level;
  }
  for (std::size_t e = 0; e < experts.size(); ++e) {
    LevelExpert& expert = experts[e];
    const double goes = leaving_weight(e), stays = expert.weight - goes, comes = (leaving - goes) / others;
    expert.level = (stays * expert.level + (leaving_level - goes * expert.level) / others) / (stays + comes);
    expert.weight = stays + comes;
  }
}

double LevelTracker::moved(Scalars& scalars) const {
  const double distance = level() - scalars.level_reported, square = distance * distance;
  const bool away = square > std::max(scalars.y_var, unusual * scalars.level_deviation2);
  scalars.level_rows_away = away ? scalars.level_rows_away + 1 : 0;
  scalars.level_deviation2 += (square - scalars.level_deviation2) / distance_memory;
  if (scalars.level_rows_away < least_rows_away) return 0.0;
  scalars.level_reported += distance;
  scalars.level_rows_away = 0;
  return distance;
}

}  // namespace keyhole::thrifty
