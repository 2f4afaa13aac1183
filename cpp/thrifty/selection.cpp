#include "thrifty/selection.hpp"

#include <array>

#include "thrifty/drift_detector.hpp"
#include "thrifty/knapsack.hpp"
#include "thrifty/redundancy.hpp"

namespace keyhole::thrifty {

namespace {

// How many of those that should join are tried at a refit.
constexpr int tries = 6;
// Candidates of which every two are judged together.
constexpr Index joint_candidates = 20;

double money_of(const State& state, std::span<const Member> list) {
  double sum = 0.0;
  for (const Member& b : list) sum += state.source[b.source].price;
  return sum;
}

bool has_room(const State& state, std::span<const Member> list, Index s) {
  if (state.now().n_members >= state.given().k) return false;
  const double most = state.given().budget_per_row;
  return most == infinity || money_of(state, list) + state.source[s].price <= most;
}

// What a member or candidate explains, less its price.
double net_of(const State& state, Index s, double explains) { return explains - price_in_error(state, s); }

// What a candidate is expected to explain, less its price. Where a price is paid for it in every row the best of many is
// shrunk: it counts by its posterior.
double expected_net(const State& state, const Candidate& of) {
  const double price = price_in_error(state, of.source);
  return price > 0.0 ? believe(state, of).mean() - price : of.r * of.r / of.c;
}

// Whether a candidate's evidence lets it join; where a price must be earned, that decides alone.
bool significant(const State& state, const Source& me) {
  return me.z2 > me.join_at || (weighed(state) && me.price > 0.0 && state.given().total_budget == infinity);
}

// Whether a member of a fit with m columns holds its own: by its evidence, or by what it is believed to explain.
double standing(const State& state, const Fit& fit, Index m, const Member& of) {
  const double price = price_in_error(state, of.source);
  const double earns = price > 0.0 ? believe(state, fit, m, of).mean() / price : infinity;
  if (price > 0.0 && state.given().total_budget == infinity) return earns;
  return std::min(earns, member_evidence(state, fit, of) / state.source[of.source].leave_at);
}

// stay[i] = 1 for the members that stay when source s comes: all if there is room, else all but the cheapest to lose.
std::vector<Index> stay_with(const State& state, std::span<const Member> list, Index s, std::span<const double> losses) {
  std::vector<Index> stay(list.size(), 1);
  if (has_room(state, list, s)) return stay;
  const Given& given = state.given();
  std::vector<double> value, price;
  std::vector<std::size_t> who;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (state.source[list[i].source].always) continue;
    value.push_back(std::max(net_of(state, list[i].source, losses[i]), 0.0) + 1e-300);
    price.push_back(state.source[list[i].source].price);
    who.push_back(i);
  }
  if (given.budget_per_row < infinity) {
    std::vector<Index> taken(who.size());
    knapsack(value, price, given.k - 1, given.budget_per_row - state.source[s].price, taken);
    for (std::size_t i = 0; i < who.size(); ++i) stay[who[i]] = taken[i];
    return stay;
  }
  std::size_t least = 0;
  for (std::size_t i = 0; i < who.size(); ++i) least = value[i] < value[least] ? i : least;
  if (!who.empty()) stay[who[least]] = 0;
  return stay;
}

// The columns of source s behind the first n of the trial; the new n, or -1 where there is no room for them.
Index append(const State& state, Index s, Index n) {
  const Source& of = state.source[s];
  if (n + of.size > state.width) {
    state.now().wants_columns = std::max(state.now().wants_columns, n + of.size);
    return -1;
  }
  for (Index i = 0; i < of.size; ++i) state.trial.column[n + i].j = state.listed[of.first + i];
  return n + of.size;
}

// The first m columns of the trial become the support, and its fit the fit: the one place where the support changes.
void adopt(const State& state, Index m) {
  Now& now = state.now();
  const Fit &fit = state.fit, &trial = state.trial;
  for (Index a = 0; a < now.m; ++a) {
    Attribute& me = state.attr[fit.column[a].j];
    me.place = -1;
    state.source[me.source].member = 0;
  }
  for (Index a = 0; a < m; ++a) {
    fit.column[a] = trial.column[a];
    Attribute& me = state.attr[fit.column[a].j];
    me.place = a;
    state.source[me.source].member = 1;
    for (Index e = 0; e < m; ++e) {
      fit.v(a, e) = trial.v(a, e);
      fit.p(a, e) = trial.p(a, e);
      fit.cov(a, e) = trial.cov(a, e);
      fit.hid(a, e) = trial.hid(a, e);
    }
  }
  for (Index i = 0; i < m + 2; ++i) {
    for (Index e = 0; e < m + 2; ++e) fit.g(i, e) = trial.g(i, e);
  }
  *fit.label = *trial.label;
  now.m = m;
  now.n_members = 0;
  for (const Member& b : members(state)) now.n_members += !state.source[b.source].always;
  now.moves += 1;
  set_residual(state);
  recount(state);
}

// Let a member go: the least significant, if its evidence < L/2, or one that explains less than its price is worth.
bool evict(const State& state, Index redundant) {
  Now& now = state.now();
  const std::vector<Member> list = members(state);
  if (state.fit.g(now.m, now.m) / now.row_weight <= state.K().few) return false;
  Index worst = -1;
  double least = 1.0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Source& of = state.source[list[i].source];
    if (of.always) continue;
    double share = standing(state, state.fit, now.m, list[i]);
    if (list[i].source == redundant) share = -1.0;
    if (share < least) {
      least = share;
      worst = static_cast<Index>(i);
    }
  }
  if (worst < 0) return false;
  std::vector<double> guess;
  Index n = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (static_cast<Index>(i) == worst) continue;
    n = append(state, list[i].source, n);
    for (Index a = 0; a < list[i].size; ++a) guess.push_back(state.fit.column[list[i].first + a].w);
  }
  state.source[list[worst].source].left = now.n_labels;
  build(state, n, guess);
  adopt(state, n);
  return true;
}

// Fit the members that stay with the newcomers behind them. Keep it if each newcomer holds its own there and, where
// members go for them, if more is explained. `guess` are the expected weights.
bool attempt(const State& state, std::span<const Member> list, std::span<const Index> stay,
             std::span<const Index> newcomers, std::span<const double> guess) {
  Now& now = state.now();
  std::vector<Member> joined;
  Index n = 0;
  double before = state.fit.label->explained, prices = 0.0;
  bool swap = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (stay[i]) {
      n = append(state, list[i].source, n);
    } else {
      swap = true;
      before -= price_in_error(state, list[i].source);
    }
  }
  for (const Index s : newcomers) {
    joined.push_back({s, n, state.source[s].size});
    n = append(state, s, n);
    if (n < 0) return false;
    prices += price_in_error(state, s);
  }
  build(state, n, guess);
  for (const Member& b : joined) {
    if (standing(state, state.trial, n, b) <= 1.0) return false;
  }
  if (swap) {
    const bool few = state.trial.g(n, n) / now.row_weight < state.K().few * static_cast<double>(n);
    const double explained = state.trial.label->explained;
    if (few || explained > now.y_var || explained - prices <= before) return false;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!stay[i]) state.source[list[i].source].left = now.n_labels;
  }
  adopt(state, n);
  return true;
}

bool attempt(const State& state, Index s) {
  const std::vector<Member> list = members(state);
  std::vector<double> u, losses(list.size()), guess;
  const Candidate of = regress(state, s, u);
  if (of.variance <= 0.0) return false;
  swap_losses(state, of, of.r, list, losses.data());
  const std::vector<Index> stay = stay_with(state, list, s, losses);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!stay[i]) continue;
    for (Index a = list[i].first; a < list[i].first + list[i].size; ++a) {
      guess.push_back(state.fit.column[a].w - of.u[a] * of.r / of.c);
    }
  }
  for (Index i = 0; i < state.source[s].size; ++i) {  // what its columns explain alone, as far as their weights are known
    const Attribute& me = state.attr[state.listed[state.source[s].first + i]];
    guess.push_back(me.c > 0.0 ? me.r / me.c : 0.0);
  }
  return attempt(state, list, stay, std::span(&s, 1), guess);
}

void set_ratio(const State& state, Source& me, const Candidate& of) {
  const Attribute& first = state.attr[state.listed[me.first]];
  me.ratio = 0.0;
  if (of.variance > 0.0 && first.rows >= 3 && of.se > 0.0) {
    me.ratio = std::max(1e-300, std::exp(std::min(log_likelihood_ratio(of, me.size, state.now().expects), 50.0)));
  }
}

// gain > 0 for every source that should join now, value > 0 for those that should be looked at. Not `fully`: only those
// that were bought since the last time.
void score_all(const State& state, bool fully) {
  Now& now = state.now();
  const Given& given = state.given();
  const std::vector<Member> list = members(state);
  std::vector<double> u, losses(list.size());
  now.rate = rate(state);
  now.shrinkage = shrinkage(state);
  if (fully) {
    reweight(state);
    now.expects = expected_size(state);
    if (weighed(state)) learn_prior(state);
  }
  const bool limited = given.budget_per_row < infinity;
  const bool mixed = DriftDetector{state.K()}.suspicious(now);
  std::vector<Contender> rivals;
  if (limited) {  // what each is worth decides for the others, too
    for (Source& me : state.source) {
      if (me.member || me.observed == 0) continue;
      const Candidate of = regress(state, &me - state.source.data(), u);
      me.z2 = of.known ? evidence(state, of) : 0.0;
      me.adds = of.known ? of.r * of.r / of.c : 0.0;
    }
    rivals = contenders(state, list);
  }
  for (Index s = 0; s < static_cast<Index>(state.source.size()); ++s) {
    Source& me = state.source[s];
    if (!fully && me.scored == me.asked) continue;
    me.gain = me.odds = 0.0;
    me.value = -1.0;
    me.displaced = me.proxy = -1;
    me.scored = me.asked;
    if (me.member) continue;
    const Candidate of = me.observed > 0 ? regress(state, s, u) : [&] { Candidate none; none.source = s; none.u = u.data(); return none; }();
    set_ratio(state, me, of);
    me.z2 = of.known ? evidence(state, of) : 0.0;
    me.adds = of.known ? of.r * of.r / of.c : 0.0;
    const bool room = has_room(state, list, s);
    const bool again = static_cast<double>(me.asked) >= state.K().retry_looks * static_cast<double>(me.failed) &&
                       me.left != now.n_labels && (room || !mixed);
    if (of.known && again && !me.determined && significant(state, me)) {
      me.gain = expected_net(state, of);
      if (!room) {
        swap_losses(state, of, of.r, list, losses.data());
        const std::vector<Index> stay = stay_with(state, list, s, losses);
        for (std::size_t i = 0; i < list.size(); ++i) {
          if (!stay[i]) me.gain -= net_of(state, list[i].source, losses[i]);
        }
      }
    }
    const bool charged = room ? price_in_error(state, s) > 0.0 : now.n_members > 0 && given.k0 == 0;
    if (charged && me.price <= given.budget_per_row) appraise(state, of, list, room, rivals);
  }
}

// Try the sources that should join, best first, the first of equals in the seeded order; true when one did.
bool join(const State& state) {
  for (int i = 0; i < tries; ++i) {
    Index best = state.order[0];
    for (const Index s : state.order) best = state.source[s].gain > state.source[best].gain ? s : best;
    Source& me = state.source[best];
    if (me.gain <= 0.0) return false;
    if (attempt(state, best)) return true;
    me.gain = 0.0;
    me.failed = me.asked;
  }
  return false;
}

// Two candidates that explain together what neither shows alone: of the best of one attribute each, on the rows that show
// both, the pair with the most evidence if it exceeds what both need to join. Without room they replace the members that
// explain least. The rows are read each time there are twice as many.
bool join_two(const State& state) {
  Now& now = state.now();
  const Given& given = state.given();
  if (now.n_labels < now.joint_at || given.k < 2) return false;
  now.joint_at = 2 * now.n_labels;
  std::vector<double> values(joint_candidates);
  std::vector<Index> best(joint_candidates), attributes;
  Index size = 0;
  for (const Index s : state.order) {
    const Source& of = state.source[s];
    if (of.member || of.determined || of.size > 1 || of.z2 <= 0.0 || of.left == now.n_labels) continue;
    size = insert_best(values.data(), best.data(), size, joint_candidates, of.z2, s);
  }
  best.resize(static_cast<std::size_t>(size));
  for (const Index s : best) attributes.push_back(state.listed[state.source[s].first]);
  std::vector<JointSums> sums;
  sum_jointly(state, attributes, sums);
  double most = 1.0;
  std::array<Index, 2> pair{};
  std::array<double, 2> weight{};
  for (Index i = 0; i < size; ++i) {
    for (Index l = i + 1; l < size; ++l) {
      const JointSums& of = sums[i * size + l];
      const double rows = of.n / now.row_weight;
      if (rows < state.K().few + 2.0) continue;
      const auto cov = [&](double both, double a, double b) { return both / of.n - a * b / (of.n * of.n); };
      const double v = cov(of.xx, of.x, of.x), w = cov(of.zz, of.z, of.z), c = cov(of.xz, of.x, of.z);
      const double r = cov(of.xe, of.x, of.e), q = cov(of.ze, of.z, of.e), determinant = v * w - c * c;
      if (determinant <= (1.0 - state.K().most_alike) * v * w) continue;
      const double by_x = (w * r - c * q) / determinant, by_z = (v * q - c * r) / determinant;
      const double share = std::min((by_x * r + by_z * q) / now.s2, 0.98);
      const double found = -std::log1p(-share) * std::max(0.0, rows - state.K().fit_by_chance - 1.0);
      const double needed = state.source[best[i]].join_at + state.source[best[l]].join_at;
      if (found / needed <= most) continue;
      most = found / needed;
      pair = {best[i], best[l]};
      weight = {by_x, by_z};
    }
  }
  if (most <= 1.0) return false;
  const std::vector<Member> list = members(state);
  std::vector<Index> stay(list.size(), 1);
  std::vector<double> guess;
  Index places = now.n_members + 2;
  double money = money_of(state, list) + state.source[pair[0]].price + state.source[pair[1]].price;
  while (places > given.k || money > given.budget_per_row) {
    Index least = -1;
    double loses = infinity;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!stay[i] || state.source[list[i].source].always) continue;
      const double net = net_of(state, list[i].source, member_loss(state, state.fit, list[i]));
      if (net < loses) {
        loses = net;
        least = static_cast<Index>(i);
      }
    }
    if (least < 0) return false;  // the two cost too much by themselves
    stay[least] = 0;
    places -= 1;
    money -= state.source[list[least].source].price;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (Index a = 0; stay[i] && a < list[i].size; ++a) guess.push_back(state.fit.column[list[i].first + a].w);
  }
  guess.insert(guess.end(), weight.begin(), weight.end());
  return attempt(state, list, stay, pair, guess);
}

// With a limit on money: the best basket of all members and significant candidates, if it explains more in its own fit.
bool rearrange(const State& state) {
  const Given& given = state.given();
  const std::vector<Member> list = members(state);
  const std::vector<Contender> rivals = contenders(state, list);
  std::vector<double> value, price, guess;
  std::vector<Index> taken(rivals.size());
  for (const Contender& c : rivals) {
    value.push_back(std::max(net_of(state, c.source, c.value), 0.0) + 1e-300);
    price.push_back(c.price);
  }
  knapsack(value, price, given.k, given.budget_per_row, taken);
  Index n = 0;
  std::vector<Member> chosen;
  bool fresh = false;
  for (const Member& b : list) {
    bool keep = state.source[b.source].always;
    for (std::size_t i = 0; i < rivals.size(); ++i) keep = keep || (rivals[i].source == b.source && taken[i]);
    if (!keep) continue;
    chosen.push_back({b.source, n, b.size});
    n = append(state, b.source, n);
    for (Index a = 0; a < b.size; ++a) guess.push_back(state.fit.column[b.first + a].w);
  }
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    if (!taken[i] || state.source[rivals[i].source].member) continue;
    fresh = true;
    chosen.push_back({rivals[i].source, n, state.source[rivals[i].source].size});
    n = append(state, rivals[i].source, n);
    if (n < 0) return false;
    while (static_cast<Index>(guess.size()) < n) {
      const Attribute& me = state.attr[state.trial.column[guess.size()].j];
      guess.push_back(me.c > 0.0 ? me.r / me.c : 0.0);
    }
  }
  if (!fresh) return false;
  build(state, n, guess);
  for (const Member& b : chosen) {  // those that stay, too: one that does not hold its own there would leave at once
    if (state.source[b.source].always) continue;
    if (standing(state, state.trial, n, b) <= 1.0) return false;
  }
  if (state.trial.label->explained <= state.fit.label->explained) return false;
  adopt(state, n);
  return true;
}

std::vector<Index> support(const State& state) {
  std::vector<Index> out;
  for (const Member& b : members(state)) out.push_back(b.source);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void refit(const State& state) {
  Now& now = state.now();
  const Index most = 2 * std::min<Index>(state.given().k, state.width) + 4;
  if (now.refit_sources != 0) {  // on other rows, or other members: a regime
    std::vector<double> guess;
    Index n = 0;
    for (Index s = 0; s < static_cast<Index>(state.source.size()); ++s) {
      if (state.source[s].always) n = append(state, s, n);
    }
    const Kept& kept = state.kept[now.refit_sources - 1];
    const Index* who = state.kept_sources.data() + (now.refit_sources - 1) * static_cast<Index>(state.source.size());
    for (Index i = 0; i < kept.n; ++i) {
      const Index more = append(state, who[i], n);
      if (more >= 0) n = more;
    }
    guess.assign(static_cast<std::size_t>(n), 0.0);
    build(state, n, guess);
    adopt(state, n);
    DriftDetector::reset(now);
    now.refit_sources = 0;
  }
  const std::vector<Index> before = support(state);
  solve(state, state.fit, now.m);
  set_residual(state);
  bool fully = now.n_labels >= now.score_at;
  const bool limited = state.given().budget_per_row < infinity;
  Index redundant = now.score_at > 0 && fully ? mark_redundant(state) : -1;
  for (Index done = 0; done < most; ++done, fully = true) {
    if (evict(state, redundant)) {
      redundant = -1;
      continue;
    }
    score_all(state, fully);
    if (join(state) || (fully && join_two(state))) continue;
    if (!(limited && rearrange(state))) break;
  }
  if (support(state) != before) DriftDetector::reset(now);
  if (fully) {
    const double n = std::min(state.rows(), static_cast<double>(now.n_labels));
    now.score_at = now.n_labels + std::max<Index>(1, static_cast<Index>(state.K().rescore_rows * n));
  }
  now.refit_at = now.score_at;
  line_up(state);
}

bool refresh(const State& state, Index t) {
  Now& now = state.now();
  if (now.shrinkage == 0.0) return false;  // nothing was scored yet
  const Row& row = state.row[t];
  bool due = false;
  std::vector<Member> list;
  for (Index p = row.begin; p < row.begin + row.size; ++p) {
    const Attribute& shown = state.attr[state.value[p].j];
    if (p > row.begin && state.attr[state.value[p - 1].j].source == shown.source) continue;
    Source& me = state.source[shown.source];
    if (me.member || me.determined) continue;
    const Candidate of = regress(state, shown.source, state.scratch.u);
    set_ratio(state, me, of);
    if (price_in_error(state, shown.source) > 0.0 && me.displaced < 0) {  // is another look still worth its price?
      if (list.empty()) list = members(state);
      me.value = -1.0;
      appraise(state, of, list, true, {});
    }
    if (!of.known) continue;
    me.z2 = evidence(state, of);
    me.adds = of.r * of.r / of.c;
    if (now.n_members >= state.given().k) continue;
    if (static_cast<double>(me.asked) < state.K().retry_looks * static_cast<double>(me.failed)) continue;
    due = due || (significant(state, me) && expected_net(state, of) > 0.0);
  }
  return due;
}

}  // namespace keyhole::thrifty
