#include "thrifty/exploration.hpp"

#include <numbers>

#include "thrifty/knapsack.hpp"

namespace keyhole::thrifty {

namespace {

constexpr Index shortlist = 30;
// Before there is a support, what may be spent is thought to explain a third of the label's variance; no rate is larger
// than so many times that. The rate is a little above that of the last member, so that it does not come and go.
constexpr double hoped_share = 3.0, most_hope = 10.0, slack = 1.1;

// E (Z - z)_+ of a standard normal Z.
double psi(double z) {
  if (z > 8.0) return 0.0;
  return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi) - 0.5 * z * std::erfc(z / std::numbers::sqrt2);
}

// What knowing the gain of j in place of a member is worth: the member's signal has weight 1 and precision 1 / loss, u is
// the coefficient of that signal in the regression of j. The gain is positive beyond two thresholds of r, and nearly
// linear there: knowing on which side of one it lies is worth sd slope E(Z - |z|)_+.
double improvement(double prec, double r, double sd, double c, double u) {
  const double J = prec + u * u / c, root = std::sqrt(J * c);
  const double up = c / (root + u), down = c / (root - u);
  const double slope_up = 2.0 * (up + (1.0 - u * up / c) * u / J) / c;
  const double slope_down = 2.0 * (down - (1.0 + u * down / c) * u / J) / c;
  return sd * (slope_up * psi(std::abs(up - r) / sd) + slope_down * psi(std::abs(down + r) / sd));
}

// The same where j is bought once it explains r^2 / c > need.
double entry(double need, double r, double sd, double c) {
  if (need <= 0.0) return (r * r + sd * sd) / c;
  const double edge = std::sqrt(need * c);
  return sd * 2.0 * edge / c * (psi(std::abs(edge - r) / sd) + psi(std::abs(edge + r) / sd));
}

// The prior odds that a source is worth a place. What was forgotten by a half-life was known, though: that no change was
// noticed all the while.
double prior_odds(const State& state) {
  const Now& now = state.now();
  const double n = static_cast<double>(state.order.size()), k = static_cast<double>(state.given().k_prior);
  const double since = std::max(1.0, static_cast<double>(now.n_labels - now.epoch));
  const double part = std::pow(std::min(1.0, state.rows() / since), 2);
  return k / std::max(n - k, 1.0) * part / (part + k * (1.0 - part));
}

// u of a member's signal, and how much of the candidate it is: u_B' Q u_B with Q = cov(x_B | rest).
struct Shared { double u, square; };

Shared shared(const State& state, const Candidate& of, const Member& b, double loss) {
  const Fit& fit = state.fit;
  if (b.size == 1) {
    const double w = fit.column[b.first].w, u = of.u[b.first];
    return {w != 0.0 ? u / w : 0.0, u * u * fit.column[b.first].cond};
  }
  std::vector<double> A(static_cast<std::size_t>(b.size * b.size)), Q(A.size());
  for (Index i = 0; i < b.size; ++i) {
    for (Index e = 0; e < b.size; ++e) A[i * b.size + e] = fit.p(b.first + i, b.first + e);
  }
  invert(A.data(), b.size, b.size, Q.data(), b.size, state.scratch.joined);
  double cross = 0.0, square = 0.0;
  for (Index i = 0; i < b.size; ++i) {
    for (Index e = 0; e < b.size; ++e) {
      cross += of.u[b.first + i] * Q[i * b.size + e] * fit.column[b.first + e].w;
      square += of.u[b.first + i] * Q[i * b.size + e] * of.u[b.first + e];
    }
  }
  return {loss > 0.0 ? cross / loss : 0.0, std::max(square, 0.0)};
}

double joint_rows(const State& state, Index s, const Member& b) {
  return state.pair(state.listed[state.source[s].first])[b.first].n / state.now().row_weight;
}

}  // namespace

namespace {

// The rate at which the sources that are worth their price just use up the pace: that of the source which crosses it.
double shadow_price(const State& state) {
  const Now& now = state.now();
  const double money = pace(state), hope = hoped_share * money / now.y_var;
  std::vector<std::pair<double, double>> useful;  // price per error explained, price
  const auto add = [&](double adds, double price) {
    if (adds > 0.0 && price > 0.0) useful.emplace_back(price / adds, price);
  };
  for (const Member& b : members(state)) add(believe(state, state.fit, now.m, b).mean(), state.source[b.source].price);
  for (const Index s : state.order) {
    const Source& of = state.source[s];
    if (!of.member && of.matters > 0.5 && of.z2 > of.join_at) add(of.adds * of.matters, of.price);
  }
  std::sort(useful.begin(), useful.end());
  double sum = 0.0;
  for (const auto& [per, price] : useful) {
    sum += price;
    if (sum > money) return std::min(per * slack, most_hope * hope);
  }
  return most_hope * hope;
}

}  // namespace

double rate(const State& state) {
  const Given& given = state.given();
  const double unit = state.now().y_unit;
  if (unit == 0.0 && (given.error_cost < infinity || given.total_budget < infinity)) return 0.0;  // labels are all alike
  const double told = given.error_cost < infinity ? given.error_cost * unit * unit : infinity;
  return given.total_budget < infinity ? std::min(told, shadow_price(state)) : told;
}

double expected_size(const State& state) {
  const Now& now = state.now();
  if (now.n_members == 0) return now.s2 / static_cast<double>(state.given().k_prior);
  double size = 0.0;
  for (const Member& b : members(state)) {
    if (state.source[b.source].always) continue;
    for (Index a = b.first; a < b.first + b.size; ++a) {
      const double one = state.fit.column[a].w * state.fit.column[a].sd;
      size += one * one / static_cast<double>(now.n_members);
    }
  }
  return size;
}

Posterior believe(const State& state, const Candidate& of) {
  const Now& now = state.now();
  const Index q = state.source[of.source].size;
  if (!of.known) return posterior(state.prior, 0.0, 0.0, now.s2, q, now.y_var);
  const double gain = of.r * of.r / of.c + (static_cast<double>(q) - 1.0) * of.se * of.se;
  return posterior(state.prior, gain, of.rows, std::max(of.se * of.se * of.rows / of.c, 1e-12 * now.y_var), q, now.y_var);
}

Posterior believe(const State& state, const Fit& fit, Index m, const Member& of) {
  const Now& now = state.now();
  const double loss = member_loss(state, fit, of), shrunk = kept_of_weight(state, fit, of);
  const double all = fit.g(m, m) / now.row_weight, own = member_evidence(state, fit, of) * now.s2;
  const double n = loss > 0.0 ? std::min(all, shrunk * own / loss) : all;  // rows that show what it has of its own
  const double gain = loss / (shrunk * shrunk);
  const double left = std::max(now.y_var - fit.label->explained, state.K().residual_floor * now.error2);
  return posterior(state.prior, gain, n, std::max(left, 1e-12 * now.y_var) + gain, of.size, now.y_var);
}

void learn_prior(const State& state) {
  const Constants& K = state.K();
  const double n = static_cast<double>(state.order.size());
  std::array<double, 5> tally = hoped(static_cast<double>(state.given().k_prior), n);
  for (double& one : tally) one *= K.prior_sources;
  double judged = K.prior_sources;
  std::vector<double> u;
  const auto count = [&](const Posterior& of) {
    for (std::size_t i = 0; i < 5; ++i) tally[i] += of.weight[i];
    judged += 1.0;
  };
  for (const Member& b : members(state)) {
    if (!state.source[b.source].always) count(believe(state, state.fit, state.now().m, b));
  }
  for (const Index s : state.order) {
    if (state.source[s].member || state.source[s].observed == 0) continue;
    const Candidate of = regress(state, s, u);
    if (of.known) count(believe(state, of));
  }
  for (std::size_t i = 0; i < 5; ++i) state.prior[i] = tally[i] / judged;
}

double probability(const State& state, Index s) {
  const Source& of = state.source[s];
  if (weighed(state) && of.price > 0.0) return of.matters;
  const Now& now = state.now();
  double promise = 1.0;
  const Index looks = std::max(of.asked, of.observed);  // past rows show what was never asked for
  if (of.ratio > 0.0) {
    promise = of.ratio;
  } else if (looks > 0) {
    const double asked = static_cast<double>(looks);
    bool constant = true;
    for (Index i = 0; i < of.size; ++i) constant = constant && state.attr[state.listed[of.first + i]].unit == 0.0;
    if (constant && looks > 1) {  // says nothing for or against itself, but takes as many looks again
      promise = now.s2 > 0.0 ? 1.0 / (1.0 + asked * now.expects / now.s2) : 1.0;
    } else {  // one that was begun is looked at until it can be judged
      promise = 1.0 + 1.0 / (1.0 + asked);
    }
  }
  const double odds = prior_probability(state) * promise, p = odds / (1.0 + odds);
  return of.observed >= of.asked ? p : p * (of.observed + 1.0) / (of.asked + 1.0);
}

std::vector<Contender> contenders(const State& state, std::span<const Member> list) {
  std::vector<Contender> out;
  for (const Member& b : list) {
    if (state.source[b.source].always) continue;
    out.push_back({b.source, member_loss(state, state.fit, b) + 1e-300, state.source[b.source].price});
  }
  for (const Index s : state.order) {
    const Source& of = state.source[s];
    if (of.member || of.z2 <= of.join_at || of.price > state.given().budget_per_row) continue;
    out.push_back({s, of.adds + 1e-300, of.price});
  }
  std::stable_sort(out.begin(), out.end(), [](const Contender& a, const Contender& b) { return a.value > b.value; });
  if (out.size() > shortlist) out.resize(shortlist);
  return out;
}

namespace {

// What s must explain to be in the best basket; losses: what each member explains once s is there.
double need_for(const State& state, std::span<const Contender> rivals, Index s, std::span<const Member> list,
                const double* losses) {
  const Given& given = state.given();
  const std::size_t n = rivals.size();
  std::vector<double> value(n), beside(n), price(n);
  std::vector<Index> taken(n);
  double before = 0.0, after = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    value[i] = beside[i] = rivals[i].value;
    for (std::size_t b = 0; b < list.size(); ++b) {
      if (list[b].source != rivals[i].source) continue;
      beside[i] = losses[b] + 1e-300;
      before += value[i];
      after += beside[i];
    }
    price[i] = rivals[i].source == s ? infinity : rivals[i].price;
  }
  const double without = knapsack(value, price, given.k, given.budget_per_row, taken) - before;
  const double money = given.budget_per_row - state.source[s].price;
  const double with = knapsack(beside, price, given.k - 1, money, taken) - after;
  return std::max(0.0, without - with);
}

// What is not explained in a row that looks at s for want of places or money, and a member that gives way.
double forgone(const State& state, Index s, std::span<const Member> list, Index& displaced) {
  std::vector<double> value, price;
  std::vector<Index> who;
  for (const Member& b : list) {
    if (state.source[b.source].always) continue;
    value.push_back(member_loss(state, state.fit, b) + 1e-300);
    price.push_back(state.source[b.source].price);
    who.push_back(b.source);
  }
  std::vector<Index> taken(value.size());
  const double money = state.given().budget_per_row - state.source[s].price;
  knapsack(value, price, state.given().k - 1, money, taken);
  double lost = 0.0;
  displaced = -1;
  for (std::size_t i = 0; i < who.size(); ++i) {
    if (taken[i]) continue;
    lost += value[i];
    displaced = who[i];
  }
  return lost;
}

}  // namespace

void appraise(const State& state, const Candidate& of, std::span<const Member> list, bool room,
              std::span<const Contender> rivals) {
  const Now& now = state.now();
  const Constants& K = state.K();
  Source& me = state.source[of.source];
  const double money = price_in_error(state, of.source), q = static_cast<double>(me.size);
  const bool limited = state.given().budget_per_row < infinity;
  const double r = of.known ? of.r : 0.0, se = of.known ? of.se : 1e9, c = of.known ? of.c : 1.0;
  const double v = of.known ? of.variance : 1.0;

  const Posterior belief = weighed(state) && money > 0.0 ? believe(state, of) : Posterior{};
  me.matters = 1.0 - belief.weight[0];
  const double slab = now.expects;  // what a source that matters explains
  if (slab <= 0.0) return;

  // Who gives way, and what a look costs: a cheap member's place that s is not like, and was seen with.
  double cost = money;
  std::vector<double> loss(list.size()), beside(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) beside[i] = loss[i] = member_loss(state, state.fit, list[i]);
  if (of.known) swap_losses(state, of, r, list, beside.data());
  if (!room && limited) {
    cost += forgone(state, of.source, list, me.displaced);
  } else if (!room) {
    double least = infinity;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (state.source[list[i].source].always) continue;
      double charge = loss[i] * (now.s2 + loss[i]);
      if (of.known) {
        const double n = state.attr[state.listed[me.first]].n / now.row_weight, both = joint_rows(state, of.source, list[i]);
        const double apart = std::max(0.0, n - both) / (both + now.shrinkage);
        charge *= (1.0 + shared(state, of, list[i], loss[i]).square / c) * (1.0 + apart * loss[i] / now.s2);
      }
      if (charge < least) {
        least = charge;
        me.displaced = list[i].source;
        cost = money + loss[i];
      }
    }
  }

  // What knowing it is worth: it adds something (prior odds, a weight of the members' size), or a member stands in for it.
  const double ease = slab / v / (slab / v + (se / c) * (se / c));
  double odds = prior_odds(state);
  if (of.known) odds *= std::pow(1.0 - ease, 0.5 * q) * std::exp(std::min(0.5 * ease * of.z2, 50.0));
  double worth = 0.0, explained = 0.0;
  Index weakest = -1;
  if (!room) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (state.source[list[i].source].always || loss[i] <= 0.0) continue;
      if (weakest < 0 || beside[i] < beside[weakest]) weakest = static_cast<Index>(i);
      if (!of.known) continue;
      const double u = shared(state, of, list[i], loss[i]).u;  // w_j = 1 / u if the member only stands in for j
      double w = 1.0, v_b = 0.0;
      if (list[i].size == 1) {
        w = state.fit.column[list[i].first].w;
        v_b = w * w * std::pow(state.fit.column[list[i].first].sd, 2);
        w *= u;  // the coefficient in units of the column
      } else {
        for (Index a = list[i].first; a < list[i].first + list[i].size; ++a) {
          v_b += std::pow(state.fit.column[a].w * state.fit.column[a].sd, 2);
        }
        w = u;
      }
      if (std::abs(w) <= 1e-3) continue;
      const double w_j = 1.0 / u, own = c * w_j * w_j;
      const double against = ((r - c * w_j) * (r - c * w_j) - r * r) / (se * se) + (w_j * w_j * v - v_b) / slab;
      const double likely = std::exp(-0.5 * std::clamp(against, -100.0, 100.0));
      if (own * likely / (1.0 + likely) > worth && own < now.s2) {
        worth = own * likely / (1.0 + likely);
        explained = own;
        me.proxy = list[i].source;
        me.odds = likely;
      }
    }
  }
  const double sd = se * std::sqrt(ease), shrunk = ease * r;
  double adds = 0.0, need = money;
  if (money > 0.0) {
    if (!room && limited) need += need_for(state, rivals, of.source, list, beside.data());
    else if (!room && weakest >= 0) need += std::max(0.0, beside[weakest] - price_in_error(state, list[weakest].source));
    const bool may_join = of.known && me.failed == 0;
    adds = belief.beyond(need) - (may_join ? std::max(0.0, belief.mean() - need) : 0.0);
    odds = infinity;
  } else if (room) {
    adds = entry(money, shrunk, sd, c);
  } else if (limited) {
    adds = entry(need_for(state, rivals, of.source, list, beside.data()), shrunk, sd, c);
  } else if (weakest >= 0) {
    adds = improvement(1.0 / loss[weakest], shrunk, sd, c, of.known ? shared(state, of, list[weakest], loss[weakest]).u : 0.0);
  }
  if (odds < infinity) adds *= odds / (1.0 + odds);
  if (adds > worth) {
    worth = adds;
    me.proxy = -1;
    me.odds = 0.0;
  }
  const double seen = std::min(1.0, (me.observed + 1.0) / (me.asked + 1.0));  // what is rarely observed rarely helps
  const double asked = static_cast<double>(std::max(me.asked, me.observed));
  double looks = of.known ? of.rows * (1.0 + (cost - money) / now.s2) : K.few + q - 1.0 + asked;
  if (!of.known && static_cast<double>(me.observed) > K.few) looks *= K.few;  // it shows one value: others are rare
  if (me.proxy >= 0) {
    worth = explained * me.odds;
    looks = K.standin_looks * (now.s2 + cost) / explained;
  }
  double ahead = K.horizon * state.rows();
  if (money > 0.0) {  // what few labels show of their variance is believed to the low side: money is spent on it
    const double rows = state.rows();
    if (money > now.s2 * (1.0 - std::sqrt(2.0 / rows))) return;
    ahead = std::max(ahead, K.least_horizon);
  }
  if (state.given().expected_rows < infinity) {
    ahead = rows_left(state);
  }
  if (money > 0.0 && me.proxy < 0) {
    const double observed = static_cast<double>(me.observed);
    const double varies = !of.known && observed > K.few ? K.few / observed : 1.0;  // it shows one value: others are rare
    // One look decides a part of it: its nats of those that tell whether it matters at all, at most one more of n.
    const double all = belief.beyond(need);
    double part = all > 0.0 ? belief.found(need, now.s2) / all / (K.sure_nats - std::log(me.matters)) : 0.0;
    if (of.known && me.matters > 0.5) part = std::min(part, 1.0 / of.rows);
    const double found = varies * worth * part;
    me.value = ahead * seen * found / (K.look_fee * cost) - 1.0;
    return;
  }
  me.value = ahead * seen * worth / ((cost + 1e-12 * now.s2) * looks) - 1.0;
}

void line_up(const State& state) {
  Now& now = state.now();
  const double n_rows = std::min(state.rows(), static_cast<double>(now.n_labels));
  const Index soon = std::max<Index>(1, static_cast<Index>(0.005 * n_rows));
  std::vector<double> among(state.source.size(), 0.0);
  for (const Source& of : state.source) {
    if (of.proxy >= 0) among[of.proxy] += of.odds;  // of those a member may stand in for, one at most is right
  }
  const Index size = std::min(static_cast<Index>(state.source.size()), soon / 2 + 1);
  std::vector<double> values(static_cast<std::size_t>(size));
  Index waiting = 0, n = 0;
  double least = infinity;
  for (const Index s : state.order) {
    const Source& of = state.source[s];
    if (of.member || of.displaced < 0 || of.determined) continue;
    const double value = (1.0 + of.value) / (of.proxy >= 0 ? 1.0 + among[of.proxy] : 1.0);
    if (value <= 1.0) continue;
    ++waiting;
    least = std::min(least, state.attr[state.listed[of.first]].n);
    n = insert_best(values.data(), state.queue.data(), n, size, value, s);
  }
  now.queued = n;
  now.turn = 0;
  if (n > 0) {
    const double rows = std::max(1.0, 2.0 * std::max(1.0, 0.1 * least / now.row_weight) * static_cast<double>(waiting));
    now.refit_at = std::min(now.score_at, now.n_labels + std::min(static_cast<Index>(rows), soon));
  }
}

}  // namespace keyhole::thrifty
