#include "thrifty/basket.hpp"

namespace keyhole::thrifty {

namespace {

// Candidates for the free places that a knapsack considers where money is limited.
constexpr Index most_knapsack_candidates = 30;

// Whether a source has another price in this row than it usually has.
bool unusual_price(const State& state, Index s) {
  const std::vector<double>& usual = state.scratch.usual_price;
  return !usual.empty() && usual[s] != state.source[s].price;
}

// Returns what a look at s is worth over its cost, less 1, at the price of this row.
double exploration_value_in_row(const State& state, Index s) {
  const Source& source = state.source[s];
  if (!unusual_price(state, s) || source.price <= 0.0) return source.exploration_value;
  return (1.0 + source.exploration_value) * state.scratch.usual_price[s] / source.price - 1.0;
}

// Returns the candidate that displaces a member in this row, or -1. `displacement_share` of the rows take one from the
// queue, unless it costs more in this row than the row may spend, or than a look at it is worth.
Index next_from_queue(const State& state, std::span<const std::uint8_t> pool, double money) {
  Scalars& scalars = state.scalars();
  if (scalars.queue_size == 0) return -1;
  scalars.displacement_credit += state.constants().displacement_share;
  if (scalars.displacement_credit < 1.0) return -1;
  scalars.displacement_credit -= 1.0;
  const Index s = state.queue[scalars.queue_next];
  scalars.queue_next = (scalars.queue_next + 1) % scalars.queue_size;
  if (!pool[s] || state.source[s].member || state.source[s].price > money) return -1;
  const bool too_dear = prices_must_be_earned(state) && exploration_value_in_row(state, s) <= 0.0;
  return too_dear ? -1 : s;
}

// Whether a member costs more in this row than it explains.
bool too_expensive(const State& state, const Member& b) {
  return unusual_price(state, b.source) && price_in_error(state, b.source) > member_loss(state, state.fit, b);
}

// Puts up to `room` sources outside the support into the basket, and takes their prices off the money.
void fill_free_places(const State& state, std::span<const std::uint8_t> pool, Index room, double& money,
                      std::vector<Index>& basket) {
  const bool limited = money < infinity, earned = prices_must_be_earned(state);
  const Index n_sources = static_cast<Index>(state.source.size());
  const Index most = std::min(limited ? std::max(room, most_knapsack_candidates) : room, n_sources);
  if (most <= 0) return;
  auto& taken = state.scratch.taken;
  auto& items = state.scratch.items;
  auto& values = state.scratch.values;
  values.resize(static_cast<std::size_t>(most));
  items.resize(static_cast<std::size_t>(most));
  Index n = 0;
  const double prior = prior_probability(state);
  for (const Index s : state.order) {
    const Source& source = state.source[s];
    if (!pool[s] || taken[s] || source.member || source.redundant || source.price > money) continue;
    if (earned && exploration_value_in_row(state, s) <= 0.0 && price_in_error(state, s) > 0.0) continue;
    const bool by_value = earned && source.price > 0.0;
    // A source whose odds are below the least probability in the list has a lower probability: no need to compute it.
    const bool hopeless = source.likelihood_ratio > 0.0 && n == most && prior * source.likelihood_ratio <= values[n - 1];
    if (!by_value && hopeless) continue;
    const double value = by_value ? exploration_value_in_row(state, s) : probability(state, s);
    n = insert_best(values.data(), items.data(), n, most, value, s);
  }
  std::vector<Index> chosen(static_cast<std::size_t>(n), 1);
  if (limited && earned) {  // values are per price already: the most valuable first
    double left = money;
    for (Index i = 0, places = room; i < n; ++i) {
      const double price = state.source[items[i]].price;
      chosen[i] = places > 0 && price <= left;
      places -= chosen[i];
      left -= chosen[i] ? price : 0.0;
    }
  } else if (limited) {
    KnapsackProblem candidates;
    for (Index i = 0; i < n; ++i) candidates.add(items[i], values[i], state.source[items[i]].price);
    chosen = candidates.best(room, money);
  }
  for (Index i = 0; i < n; ++i) {
    if (!chosen[i]) continue;
    basket.push_back(items[i]);
    taken[items[i]] = 1;
    money -= state.source[items[i]].price;
  }
}

// Returns the members to buy beside `explored` (-1: none): all that can be had, but for the displaced one; the best of
// them where places or money are short.
std::vector<Member> members_to_buy(const State& state, std::span<const std::uint8_t> pool, std::span<const Member> list,
                                   Index explored, double money) {
  std::vector<Member> out;
  const double reserved = explored >= 0 ? state.source[explored].price : 0.0;
  const Index displaced = explored >= 0 ? state.source[explored].displaced_member : -1;
  double price = reserved;
  for (const Member& b : list) {
    if (state.source[b.source].free || too_expensive(state, b) || !pool[b.source] || b.source == displaced) continue;
    out.push_back(b);
    price += state.source[b.source].price;
  }
  const Index places = state.settings().k - (explored >= 0 ? 1 : 0);
  if (price <= money && static_cast<Index>(out.size()) <= places) return out;
  const std::vector<Index> taken = member_knapsack(state, out).best(places, money - reserved);
  std::vector<Member> best;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (taken[i]) best.push_back(out[i]);
  }
  return best;
}

// Under a total budget: the members that the money saved up for them pays for, those that explain most for their price
// first. So the last of them are bought in a part of the rows only.
std::vector<Member> members_in_pace(const State& state, std::span<const Member> wanted, double money) {
  Scalars& scalars = state.scalars();
  std::vector<std::pair<double, Member>> ranked;
  double total = 0.0;
  for (const Member& b : wanted) {
    const double price = state.source[b.source].price;
    ranked.emplace_back(price > 0.0 ? -member_loss(state, state.fit, b) / price : -infinity, b);
    total += price;
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  scalars.member_account = std::min(scalars.member_account + pace(state), total + pace(state));
  std::vector<Member> out;
  for (const auto& [density, b] : ranked) {
    const double price = state.source[b.source].price;
    if (price > std::min(scalars.member_account, money)) continue;
    out.push_back(b);
    scalars.member_account -= price;
    money -= price;
  }
  return out;
}

// Under a total budget: adds the pace of a row to the account for looks and returns it; it is full at the start.
double replenish_look_account(const State& state) {
  Scalars& scalars = state.scalars();
  const double full = state.constants().look_rows * pace(state);
  scalars.look_account = scalars.n_asked > 0 ? std::min(scalars.look_account + pace(state), full) : full;
  return scalars.look_account;
}

void append_attributes(const State& state, Index s, std::vector<Index>& out) {
  const Source& source = state.source[s];
  for (Index i = 0; i < source.size; ++i) out.push_back(state.source_attributes[source.first + i]);
}

}  // namespace

Basket choose_basket(const State& state, std::span<const std::uint8_t> pool, std::vector<Index>& out) {
  const Settings& settings = state.settings();
  const bool paced = settings.total_budget < infinity;
  std::vector<Index>& basket = state.scratch.basket;
  basket.clear();
  out.clear();
  // A limit that binds at no usual price may still bind at the prices of this row.
  const bool usual = state.scratch.usual_price.empty();
  double money = std::min(usual ? settings.budget_per_row : settings.stated_budget_per_row, money_left(state));
  const Index explored = next_from_queue(state, pool, money);
  Basket done{0, 0, 0, 0.0, explored >= 0 || state.scalars().n_members == 0};

  const std::vector<Member> list = members(state);
  for (const Member& b : list) {
    if (state.source[b.source].free) append_attributes(state, b.source, out);
  }
  std::vector<Member> wanted = members_to_buy(state, pool, list, explored, money);
  if (paced) wanted = members_in_pace(state, wanted, money);
  for (const Member& b : wanted) basket.push_back(b.source);
  if (explored >= 0) basket.push_back(explored);
  for (const Index s : basket) money -= state.source[s].price;

  if (paced) money = std::min(money, replenish_look_account(state));
  const double for_looks = money;
  std::size_t before = basket.size();  // sources that are bought before the label
  const Index free_places = settings.k - static_cast<Index>(before);
  if (free_places > 0 || settings.k0 > 0) {
    auto& taken = state.scratch.taken;
    for (const Index s : basket) taken[s] = 1;
    if (free_places > 0) fill_free_places(state, pool, free_places, money, basket);
    done.explores = done.explores || (basket.size() > before && price_in_error(state, basket.back()) > 0.0);
    before = basket.size();
    if (settings.k0 > 0) fill_free_places(state, pool, settings.k0, money, basket);
    for (const Index s : basket) taken[s] = 0;
  }
  if (paced) state.scalars().look_account -= for_looks - money;

  for (std::size_t i = 0; i <= basket.size(); ++i) {
    if (i == before) done.attributes = static_cast<Index>(out.size());
    if (i == basket.size()) break;
    append_attributes(state, basket[i], out);
    state.source[basket[i]].n_bought += 1;
    done.price += state.source[basket[i]].price;
  }
  done.explores = done.explores && !basket.empty();
  done.extras = static_cast<Index>(out.size()) - done.attributes;
  done.sources = static_cast<Index>(basket.size());
  return done;
}

}  // namespace keyhole::thrifty
