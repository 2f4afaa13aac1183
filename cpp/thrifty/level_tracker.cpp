#include "thrifty/level_tracker.hpp"

namespace keyhole::thrifty {

namespace {

// Share of a change in all rows so far that the constant level may leave by; squared distance, rows and memory of a
// report.
constexpr double changes = 0.2, far = 9.0, memory = 4000.0;
constexpr Index lasting = 100;

}  // namespace

void LevelTracker::update(double off, double reach, double s2, double rows) {
  double likely[4], best = -1e300, total = 0.0;
  for (std::size_t e = 0; e < account.size(); ++e) {
    likely[e] = log_t(off - account[e].c, s2);
    best = std::max(best, likely[e]);
  }
  for (std::size_t e = 0; e < account.size(); ++e) {
    Account& one = account[e];
    one.belief *= std::exp(likely[e] - best);
    total += one.belief;
    one.c += one.gain * std::clamp(off - one.c, -reach, reach);
  }
  for (Account& one : account) one.belief /= total;

  const double others = static_cast<double>(account.size()) - 1.0;
  const auto leave = [&](std::size_t e) { return e > 0 ? K.level_switch : std::min(K.level_leave, changes / rows); };
  double leaving = 0.0, moving = 0.0;
  for (std::size_t e = 0; e < account.size(); ++e) {
    const double goes = leave(e) * account[e].belief;
    leaving += goes;
    moving += goes * account[e].c;
  }
  for (std::size_t e = 0; e < account.size(); ++e) {
    Account& one = account[e];
    const double goes = leave(e) * one.belief, stays = one.belief - goes, comes = (leaving - goes) / others;
    one.c = (stays * one.c + (moving - goes * one.c) / others) / (stays + comes);
    one.belief = stays + comes;
  }
}

double LevelTracker::moved(Now& now) const {
  const double by = level() - now.level_reported, off = by * by;
  now.level_aside = off > std::max(now.y_var, far * now.level_strayed) ? now.level_aside + 1 : 0;
  now.level_strayed += (off - now.level_strayed) / memory;
  if (now.level_aside < lasting) return 0.0;
  now.level_reported += by;
  now.level_aside = 0;
  return by;
}

}  // namespace keyhole::thrifty
