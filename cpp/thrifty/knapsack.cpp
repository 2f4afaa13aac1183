#include "thrifty/knapsack.hpp"

#include <algorithm>

namespace keyhole::thrifty {

double knapsack(std::span<const double> values, std::span<const double> prices, Index count, double money,
                std::span<Index> taken) {
  constexpr Index most_baskets = 100'000;
  const Index n = static_cast<Index>(values.size());
  std::vector<Index> turn(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    turn[i] = i;
    taken[i] = 0;
  }
  const auto density = [&](Index i) { return prices[i] > 0.0 ? values[i] / prices[i] : infinity; };
  std::stable_sort(turn.begin(), turn.end(), [&](Index a, Index b) {
    const double x = density(a), y = density(b);
    return x != y ? x > y : values[a] > values[b];
  });
  std::vector<double> value(turn.size()), price(turn.size()), best_left(turn.size() + 1, 0.0);
  for (Index i = n - 1; i >= 0; --i) {
    value[i] = values[turn[i]];
    price[i] = prices[turn[i]];
    best_left[i] = std::max(value[i], best_left[i + 1]);
  }
  const auto at_most = [&](Index i, Index places, double left) {
    if (i == n || places == 0) return 0.0;
    double bound = 0.0;
    for (Index e = i; e < n; ++e) {
      if (price[e] > left) {
        bound += value[e] * left / price[e];
        break;
      }
      bound += value[e];
      left -= price[e];
    }
    return std::min(bound, static_cast<double>(places) * best_left[i]);
  };
  std::vector<double> has(turn.size() + 1, 0.0), spent(turn.size() + 1, 0.0);
  std::vector<Index> held(turn.size() + 1, 0), now(turn.size() + 1, 0);
  double best = -1.0;
  Index i = 0;
  for (Index seen = 0; i >= 0 && seen < most_baskets; ++seen) {
    while (i < n && has[i] + at_most(i, count - held[i], money - spent[i]) > best) {
      now[i] = spent[i] + price[i] <= money && held[i] < count ? 1 : 0;
      has[i + 1] = has[i] + (now[i] ? value[i] : 0.0);
      spent[i + 1] = spent[i] + (now[i] ? price[i] : 0.0);
      held[i + 1] = held[i] + now[i];
      ++i;
    }
    if (i == n && has[n] > best) {
      best = has[n];
      for (Index e = 0; e < n; ++e) taken[turn[e]] = now[e];
    }
    --i;
    while (i >= 0 && !now[i]) --i;
    if (i >= 0) {  // the same without the last thing taken
      now[i] = 0;
      has[i + 1] = has[i];
      spent[i + 1] = spent[i];
      held[i + 1] = held[i];
      ++i;
    }
  }
  return std::max(best, 0.0);
}

}  // namespace keyhole::thrifty
