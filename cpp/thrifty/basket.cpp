#include "thrifty/basket.hpp"

#include "thrifty/knapsack.hpp"

namespace keyhole::thrifty {

namespace {

constexpr Index shortlist = 30;

Index next_explored(const State& state, std::span<const std::uint8_t> pool) {
  Now& now = state.now();
  if (now.queued == 0) return -1;
  now.lend += state.K().lend_share;
  if (now.lend < 1.0) return -1;
  now.lend -= 1.0;
  const Index s = state.queue[now.turn];
  now.turn = (now.turn + 1) % now.queued;
  return pool[s] && !state.source[s].member ? s : -1;
}

// What a look at s is worth beyond its cost, at the price of this row.
double look_value(const State& state, Index s) {
  const Source& of = state.source[s];
  const std::vector<double>& usual = state.scratch.usual_price;
  if (usual.empty() || usual[s] == of.price || of.price <= 0.0) return of.value;
  return (1.0 + of.value) * usual[s] / of.price - 1.0;
}

// Up to `room` sources outside the support into the basket; money is what they may cost.
void fill(const State& state, std::span<const std::uint8_t> pool, Index room, double& money, std::vector<Index>& basket) {
  const bool limited = money < infinity;
  const Index n_sources = static_cast<Index>(state.source.size());
  const Index most = std::min(limited ? std::max(room, shortlist) : room, n_sources);
  if (most <= 0) return;
  auto& taken = state.scratch.taken;
  auto& values = state.scratch.losses;
  auto& items = state.scratch.stay;
  values.resize(static_cast<std::size_t>(most));
  items.resize(static_cast<std::size_t>(most));
  Index n = 0;
  const bool earned = weighed(state);
  const double prior = prior_probability(state);
  for (const Index s : state.order) {
    const Source& of = state.source[s];
    if (!pool[s] || taken[s] || of.member || of.determined || of.price > money) continue;
    if (earned && look_value(state, s) <= 0.0 && price_in_error(state, s) > 0.0) continue;
    const bool by_value = earned && of.price > 0.0;
    if (!by_value && n == most && of.ratio > 0.0 && prior * of.ratio <= values[n - 1]) continue;  // odds: p is less
    n = insert_best(values.data(), items.data(), n, most, by_value ? look_value(state, s) : probability(state, s), s);
  }
  std::vector<Index> wanted(static_cast<std::size_t>(n), 1);
  if (limited && weighed(state)) {  // the most valuable for their price first
    double left = money;
    for (Index i = 0, places = room; i < n; ++i) {
      wanted[i] = places > 0 && state.source[items[i]].price <= left;
      places -= wanted[i];
      left -= wanted[i] ? state.source[items[i]].price : 0.0;
    }
  } else if (limited) {
    std::vector<double> value(static_cast<std::size_t>(n)), price(value.size());
    for (Index i = 0; i < n; ++i) {
      value[i] = values[i] + 1e-300;
      price[i] = state.source[items[i]].price;
    }
    knapsack(value, price, room, money, wanted);
  }
  for (Index i = 0; i < n; ++i) {
    if (!wanted[i]) continue;
    basket.push_back(items[i]);
    taken[items[i]] = 1;
    money -= state.source[items[i]].price;
  }
}

// With a total: the members that are bought in this row, the best for their price first, from what was saved up for them.
std::vector<Index> affordable(const State& state, std::span<const Member> list, std::span<const Index> keep,
                              double money) {
  Now& now = state.now();
  std::vector<std::pair<double, Index>> ranked;
  double whole = 0.0;
  for (const Member& b : list) {
    if (std::find(keep.begin(), keep.end(), b.source) == keep.end()) continue;
    const double price = state.source[b.source].price;
    ranked.emplace_back(price > 0.0 ? -member_loss(state, state.fit, b) / price : -infinity, b.source);
    whole += price;
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  now.member_account = std::min(now.member_account + pace(state), whole + pace(state));
  std::vector<Index> out;
  for (const auto& [density, s] : ranked) {
    const double price = state.source[s].price;
    if (price > std::min(now.member_account, money)) continue;
    out.push_back(s);
    now.member_account -= price;
    money -= price;
  }
  return out;
}

// Whether a member costs more in this row than it explains.
bool dear(const State& state, const Member& b) {
  const std::vector<double>& usual = state.scratch.usual_price;
  if (usual.empty() || usual[b.source] == state.source[b.source].price) return false;
  return price_in_error(state, b.source) > member_loss(state, state.fit, b);
}

}  // namespace

Basket choose(const State& state, std::span<const std::uint8_t> pool, std::vector<Index>& out) {
  const Given& given = state.given();
  auto& basket = state.scratch.basket;
  basket.clear();
  out.clear();
  double money = std::min(given.budget_per_row, money_left(state));
  const Index explored = next_explored(state, pool);
  const std::vector<Member> list = members(state);
  Basket done{0, 0, 0, 0.0, explored >= 0 || state.now().n_members == 0};

  // Members, but for the place of the one that is explored; where money is short the best of them.
  std::vector<Index> keep;
  double price = explored >= 0 ? state.source[explored].price : 0.0;
  for (const Member& b : list) {
    const Source& of = state.source[b.source];
    if (of.always) {
      for (Index i = 0; i < of.size; ++i) out.push_back(state.listed[of.first + i]);
    } else if (dear(state, b)) {
      continue;
    } else if (pool[b.source] && !(explored >= 0 && state.source[explored].displaced == b.source)) {
      keep.push_back(b.source);
      price += of.price;
    }
  }
  const Index places = given.k - (explored >= 0 ? 1 : 0);
  if (price > money || static_cast<Index>(keep.size()) > places) {
    std::vector<double> value, cost;
    for (const Member& b : list) {
      if (std::find(keep.begin(), keep.end(), b.source) == keep.end()) continue;
      value.push_back(member_loss(state, state.fit, b) + 1e-300);
      cost.push_back(state.source[b.source].price);
    }
    std::vector<Index> taken(keep.size());
    knapsack(value, cost, places, money - (explored >= 0 ? state.source[explored].price : 0.0), taken);
    std::vector<Index> best;
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (taken[i]) best.push_back(keep[i]);
    }
    keep = best;
  }
  if (given.total_budget < infinity) keep = affordable(state, list, keep, money);
  basket = keep;
  if (explored >= 0) basket.push_back(explored);
  for (const Index s : basket) money -= state.source[s].price;
  if (given.total_budget < infinity) {
    Now& now = state.now();
    const double each = pace(state);
    now.look_account = now.n_asked > 0 ? std::min(now.look_account + each, state.K().look_rows * each)
                                       : state.K().look_rows * each;
    money = std::min(money, now.look_account);
  }
  const double for_looks = money;
  std::size_t before = basket.size();
  if (static_cast<Index>(before) < given.k || given.k0 > 0) {
    auto& taken = state.scratch.taken;
    for (const Index s : basket) taken[s] = 1;
    if (static_cast<Index>(before) < given.k) fill(state, pool, given.k - static_cast<Index>(before), money, basket);
    done.explores = done.explores || (basket.size() > before && price_in_error(state, basket.back()) > 0.0);
    before = basket.size();
    if (given.k0 > 0) fill(state, pool, given.k0, money, basket);
    for (const Index s : basket) taken[s] = 0;
  }
  if (given.total_budget < infinity) state.now().look_account -= for_looks - money;
  for (std::size_t i = 0; i < basket.size(); ++i) {
    Source& of = state.source[basket[i]];
    for (Index a = 0; a < of.size; ++a) out.push_back(state.listed[of.first + a]);
    if (i + 1 == before) done.attributes = static_cast<Index>(out.size());
    of.asked += 1;
    done.price += of.price;
  }
  if (before == 0) {
    done.attributes = static_cast<Index>(out.size());
    for (std::size_t i = 0; i < basket.size(); ++i) done.attributes -= state.source[basket[i]].size;
  }
  done.explores = done.explores && !basket.empty();
  done.extras = static_cast<Index>(out.size()) - done.attributes;
  done.sources = static_cast<Index>(basket.size());
  return done;
}

}  // namespace keyhole::thrifty
