#include "thrifty/knapsack.hpp"

#include <algorithm>

namespace keyhole::thrifty {

namespace {

// Baskets after which the search returns the best so far.
constexpr Index most_baskets = 100'000;

}  // namespace

double knapsack(std::span<const double> values, std::span<const double> prices, Index count, double money,
                std::span<Index> taken) {
  const Index n = static_cast<Index>(values.size());
  std::vector<Index> rank(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    rank[i] = i;
    taken[i] = 0;
  }
  // Items by value per price; place i of `rank` is the i-th item that the search decides about.
  const auto density = [&](Index i) { return prices[i] > 0.0 ? values[i] / prices[i] : infinity; };
  std::stable_sort(rank.begin(), rank.end(), [&](Index a, Index b) {
    const double x = density(a), y = density(b);
    return x != y ? x > y : values[a] > values[b];
  });
  std::vector<double> value(rank.size()), price(rank.size()), best_single(rank.size() + 1, 0.0);
  for (Index i = n - 1; i >= 0; --i) {
    value[i] = values[rank[i]];
    price[i] = prices[rank[i]];
    best_single[i] = std::max(value[i], best_single[i + 1]);
  }
  // What items i, i + 1, ... can add at most: by fractions of items, and by the number of places.
  const auto upper_bound = [&](Index i, Index places, double left) {
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
    return std::min(bound, static_cast<double>(places) * best_single[i]);
  };
  std::vector<double> value_so_far(rank.size() + 1, 0.0), price_so_far(rank.size() + 1, 0.0);
  std::vector<Index> count_so_far(rank.size() + 1, 0), chosen(rank.size() + 1, 0);
  double best = -1.0;
  Index i = 0;
  for (Index baskets = 0; i >= 0 && baskets < most_baskets; ++baskets) {
    while (i < n && value_so_far[i] + upper_bound(i, count - count_so_far[i], money - price_so_far[i]) > best) {
      chosen[i] = price_so_far[i] + price[i] <= money && count_so_far[i] < count ? 1 : 0;
      value_so_far[i + 1] = value_so_far[i] + (chosen[i] ? value[i] : 0.0);
      price_so_far[i + 1] = price_so_far[i] + (chosen[i] ? price[i] : 0.0);
      count_so_far[i + 1] = count_so_far[i] + chosen[i];
      ++i;
    }
    if (i == n && value_so_far[n] > best) {
      best = value_so_far[n];
      for (Index e = 0; e < n; ++e) taken[rank[e]] = chosen[e];
    }
    --i;
    while (i >= 0 && !chosen[i]) --i;
    if (i >= 0) {  // the same without the last item taken
      chosen[i] = 0;
      value_so_far[i + 1] = value_so_far[i];
      price_so_far[i + 1] = price_so_far[i];
      count_so_far[i + 1] = count_so_far[i];
      ++i;
    }
  }
  return std::max(best, 0.0);
}

}  // namespace keyhole::thrifty
