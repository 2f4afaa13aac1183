#include "thrifty/exploration.hpp"

#include <numbers>

#include "thrifty/knapsack.hpp"

namespace keyhole::thrifty {

namespace {

// Contenders that a knapsack considers at most.
constexpr Index most_contenders = 30;
// Before there is a support, the money of a row is expected to explain one in `inverse_expected_share` of var(y).
constexpr double inverse_expected_share = 3.0;
// Ratio: the largest shadow price, over the one that follows from that expectation.
constexpr double most_times_expected_rate = 10.0;
// Ratio: the shadow price over that of the last source in the pace, so that this source does not come and go.
constexpr double rate_margin = 1.1;
// Standard deviation of a covariance of which nothing is known.
constexpr double vague = 1e9;
// Coefficient of a member's signal in the regression of a candidate: below it, the member cannot be a proxy for it.
constexpr double least_proxy_coefficient = 1e-3;
// Share of the rows so far: after so many rows at most the queue is made again.
constexpr double most_queue_share = 0.005;

// E (Z - z)_+ of a standard normal Z.
double psi(double z) {
  if (z > 8.0) return 0.0;
  return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi) - 0.5 * z * std::erfc(z / std::numbers::sqrt2);
}

// The expected value of knowing the gain of a candidate that would replace a member.
//
// The member's signal has weight 1 and precision `prec` = 1 / loss; u is the coefficient of that signal in the
// regression of the candidate. The gain is positive beyond two thresholds of r and nearly linear there, so knowing on
// which side of a threshold z r lies is worth sd slope E(Z - |z|)_+. A threshold beyond `most` is out of reach, because
// r^2 / c cannot exceed what the support leaves unexplained.
double value_of_replacing(double prec, double r, double sd, double c, double u, double most) {
  const double J = prec + u * u / c, root = std::sqrt(J * c);
  const double up = c / (root + u), down = c / (root - u);
  const double slope_up = 2.0 * (up + (1.0 - u * up / c) * u / J) / c;
  const double slope_down = 2.0 * (down - (1.0 + u * down / c) * u / J) / c;
  const double above = up < most ? slope_up * psi(std::abs(up - r) / sd) : 0.0;
  const double below = down < most ? slope_down * psi(std::abs(down + r) / sd) : 0.0;
  return sd * (above + below);
}

// The expected value of knowing the gain of a candidate that is bought once it explains r^2 / c > need.
double value_of_entering(double need, double r, double sd, double c) {
  if (need <= 0.0) return (r * r + sd * sd) / c;
  const double edge = std::sqrt(need * c);
  return sd * 2.0 * edge / c * (psi(std::abs(edge - r) / sd) + psi(std::abs(edge + r) / sd));
}

// Prior odds k : n - k that a source is worth a place. With a half-life the odds shrink with the share of the rows that
// is forgotten: all of them told that no change was noticed.
double prior_odds(const State& state) {
  const Scalars& scalars = state.scalars();
  const double n = static_cast<double>(state.order.size()), k = static_cast<double>(state.settings().expected_relevant);
  const double since = std::max(1.0, static_cast<double>(scalars.n_labels - scalars.memory_start));
  const double part = std::pow(std::min(1.0, state.rows() / since), 2);
  return k / std::max(n - k, 1.0) * part / (part + k * (1.0 - part));
}

// What a candidate shares with a member: the coefficient u of the member's signal in the regression of the candidate,
// and the variance u_B' Q u_B that is due to it, where Q = cov(x_B | rest) and B are the columns of the member.
struct Shared { double u, square; };

Shared shared(const State& state, const Candidate& candidate, const Member& b, double loss) {
  const Fit& fit = state.fit;
  if (b.size == 1) {
    const double w = fit.column[b.first].w, u = candidate.u[b.first];
    return {w != 0.0 ? u / w : 0.0, u * u * fit.column[b.first].partial_variance};
  }
  std::vector<double> A(static_cast<std::size_t>(b.size * b.size)), Q(A.size());
  for (Index i = 0; i < b.size; ++i) {
    for (Index e = 0; e < b.size; ++e) A[i * b.size + e] = fit.p(b.first + i, b.first + e);
  }
  invert(A.data(), b.size, b.size, Q.data(), b.size, state.scratch.workspace);
  double cross = 0.0, square = 0.0;
  for (Index i = 0; i < b.size; ++i) {
    for (Index e = 0; e < b.size; ++e) {
      cross += candidate.u[b.first + i] * Q[i * b.size + e] * fit.column[b.first + e].w;
      square += candidate.u[b.first + i] * Q[i * b.size + e] * candidate.u[b.first + e];
    }
  }
  return {loss > 0.0 ? cross / loss : 0.0, std::max(square, 0.0)};
}

// The number of present rows that show both the source and the member.
double joint_rows(const State& state, Index s, const Member& b) {
  return state.pair(state.source_attributes[state.source[s].first])[b.first].n / state.scalars().row_weight;
}

// Whether each attribute of a source has shown one value only, or none.
bool shows_one_value(const State& state, const Source& source) {
  const auto attributes = state.source_attributes.subspan(source.first, source.size);
  return std::all_of(attributes.begin(), attributes.end(), [&](Index j) { return state.attr[j].unit == 0.0; });
}

// The shadow price of a total budget. Sort the sources that are worth their price by price per error explained; the
// rate is that of the source at which the sum of prices crosses the pace.
double shadow_price(const State& state) {
  const Scalars& scalars = state.scalars();
  const double money = pace(state), expected = inverse_expected_share * money / scalars.y_var;
  std::vector<std::pair<double, double>> useful;  // price per error explained, price
  const auto add = [&](double gain, double price) {
    if (gain > 0.0 && price > 0.0) useful.emplace_back(price / gain, price);
  };
  for (const Member& b : members(state)) {
    add(posterior_of(state, state.fit, scalars.m, b).mean(), state.source[b.source].price);
  }
  for (const Index s : state.order) {
    const Source& source = state.source[s];
    if (source.member || source.probability_relevant <= 0.5 || source.evidence <= source.join_threshold) continue;
    add(source.gain * source.probability_relevant, source.price);
  }
  std::sort(useful.begin(), useful.end());
  double sum = 0.0;
  for (const auto& [price_per_error, price] : useful) {
    sum += price;
    if (sum > money) return std::min(price_per_error * rate_margin, most_times_expected_rate * expected);
  }
  return most_times_expected_rate * expected;
}

}  // namespace

double rate(const State& state) {
  const Settings& settings = state.settings();
  const double unit = state.scalars().y_unit;
  const bool earned = settings.error_cost < infinity || settings.total_budget < infinity;
  if (unit == 0.0 && earned) return 0.0;  // labels do not vary: nothing is worth a price
  const double by_error_cost = settings.error_cost < infinity ? settings.error_cost * unit * unit : infinity;
  return settings.total_budget < infinity ? std::min(by_error_cost, shadow_price(state)) : by_error_cost;
}

double expected_effect(const State& state) {
  const Scalars& scalars = state.scalars();
  if (scalars.n_members == 0) return scalars.s2 / static_cast<double>(state.settings().expected_relevant);
  double size = 0.0;
  for (const Member& b : members(state)) {
    if (state.source[b.source].free) continue;
    for (Index a = b.first; a < b.first + b.size; ++a) {
      const double one = state.fit.column[a].w * state.fit.column[a].sd;
      size += one * one / static_cast<double>(scalars.n_members);
    }
  }
  return size;
}

Posterior posterior_of(const State& state, const Candidate& candidate) {
  const Scalars& scalars = state.scalars();
  const auto& [source, known, r, c, se, variance, z2, rows, u] = candidate;
  const Index q = state.source[source].size;
  if (!known) return posterior(state.prior, 0.0, 0.0, scalars.s2, q, scalars.y_var);
  const double gain = r * r / c + (static_cast<double>(q) - 1.0) * se * se;
  const double noise = std::max(se * se * rows / c, 1e-12 * scalars.y_var);
  return posterior(state.prior, gain, rows, noise, q, scalars.y_var);
}

Posterior posterior_of(const State& state, const Fit& fit, Index m, const Member& member) {
  const Scalars& scalars = state.scalars();
  // The shrinkage by the pseudo-rows is undone first: it is largest where a member has little of its own.
  const double loss = member_loss(state, fit, member), shrunk = ridge_shrinkage(state, fit, member);
  const double all = fit.g(m, m) / scalars.row_weight, own = member_evidence(state, fit, member) * scalars.s2;
  const double n = loss > 0.0 ? std::min(all, shrunk * own / loss) : all;  // rows that show what it has of its own
  const double gain = loss / (shrunk * shrunk);
  const double floor = state.constants().residual_floor * scalars.prediction_mse;
  const double left = std::max(scalars.y_var - fit.label->explained, floor);
  return posterior(state.prior, gain, n, std::max(left, 1e-12 * scalars.y_var) + gain, member.size, scalars.y_var);
}

void update_prior(const State& state) {
  const Constants& constants = state.constants();
  const double n = static_cast<double>(state.order.size());
  std::array<double, 5> total = initial_prior(static_cast<double>(state.settings().expected_relevant), n);
  for (double& weight : total) weight *= constants.prior_sources;
  double judged = constants.prior_sources;
  std::vector<double> u;
  const auto add = [&](const Posterior& posterior) {
    for (std::size_t i = 0; i < 5; ++i) total[i] += posterior.weight[i];
    judged += 1.0;
  };
  for (const Member& b : members(state)) {
    if (!state.source[b.source].free) add(posterior_of(state, state.fit, state.scalars().m, b));
  }
  for (const Index s : state.order) {
    if (state.source[s].member || state.source[s].n_observed == 0) continue;
    const Candidate candidate = evaluate_candidate(state, s, u);
    if (candidate.known) add(posterior_of(state, candidate));
  }
  for (std::size_t i = 0; i < 5; ++i) state.prior[i] = total[i] / judged;
}

double probability(const State& state, Index s) {
  const Source& source = state.source[s];
  if (prices_must_be_earned(state) && source.price > 0.0) return source.probability_relevant;
  const Scalars& scalars = state.scalars();
  double ratio = 1.0;
  const Index looks = std::max(source.n_bought, source.n_observed);  // past rows show what was never bought
  if (source.likelihood_ratio > 0.0) {
    ratio = source.likelihood_ratio;
  } else if (looks > 0) {
    const double n = static_cast<double>(looks);
    if (looks > 1 && shows_one_value(state, source)) {  // it says nothing for or against itself, but takes as many looks again
      ratio = scalars.s2 > 0.0 ? 1.0 / (1.0 + n * scalars.expected_effect / scalars.s2) : 1.0;
    } else {  // a source that was begun is looked at until it can be judged
      ratio = 1.0 + 1.0 / (1.0 + n);
    }
  }
  const double odds = prior_probability(state) * ratio, p = odds / (1.0 + odds);
  return source.n_observed >= source.n_bought ? p : p * (source.n_observed + 1.0) / (source.n_bought + 1.0);
}

std::vector<Contender> basket_contenders(const State& state, std::span<const Member> list) {
  std::vector<Contender> out;
  for (const Member& b : list) {
    if (state.source[b.source].free) continue;
    out.push_back({b.source, member_loss(state, state.fit, b), state.source[b.source].price});
  }
  for (const Index s : state.order) {
    const Source& source = state.source[s];
    if (source.member || source.evidence <= source.join_threshold) continue;
    if (source.price > state.settings().budget_per_row) continue;
    out.push_back({s, source.gain, source.price});
  }
  std::stable_sort(out.begin(), out.end(), [](const Contender& a, const Contender& b) { return a.value > b.value; });
  if (out.size() > most_contenders) out.resize(most_contenders);
  return out;
}

KnapsackProblem member_knapsack(const State& state, std::span<const Member> list) {
  KnapsackProblem out;
  for (const Member& b : list) {
    if (state.source[b.source].free) continue;
    out.add(b.source, member_loss(state, state.fit, b), state.source[b.source].price);
  }
  return out;
}

namespace {

// A candidate beside the members of the support, whose next look is to be valued. Prices and costs are in squared
// error.
struct Look {
  Candidate candidate;
  std::span<const Member> list;
  bool room;                         // whether there is a free place for it
  std::vector<double> loss, beside;  // what each member explains now, and what it explains once the candidate is in
  double price, cost;                // cost: the price and what the displaced member would have explained
  double ease;                       // shrinkage of r towards 0: prior variance over prior plus sampling variance
};

Look make_look(const State& state, const Candidate& candidate, std::span<const Member> list, bool room) {
  const double price = price_in_error(state, candidate.source);
  std::vector<double> loss(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) loss[i] = member_loss(state, state.fit, list[i]);
  Look look{candidate, list, room, loss, loss, price, price, 0.0};
  Candidate& of = look.candidate;
  if (of.known) {
    losses_beside(state, of, of.r, list, look.beside.data());
  } else {
    of.r = 0.0;
    of.se = vague;
    of.c = of.variance = 1.0;
  }
  const double effect = state.scalars().expected_effect / of.variance;
  look.ease = effect / (effect + (of.se / of.c) * (of.se / of.c));
  return look;
}

// Under budget_per_row: what a look at s keeps from being explained, for want of places or money, and a member that is
// then not bought (-1: none).
double displacement_loss(const State& state, Index s, std::span<const Member> list, Index& displaced) {
  const KnapsackProblem members = member_knapsack(state, list);
  const double money = state.settings().budget_per_row - state.source[s].price;
  const std::vector<Index> taken = members.best(state.settings().k - 1, money);
  double lost = 0.0;
  displaced = -1;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) continue;
    lost += members.value[i];
    displaced = members.thing[i];
  }
  return lost;
}

// Choose the member whose place the look takes, and add its loss to the cost. It should explain little, be unlike the
// candidate, and have been seen together with it.
void choose_displaced_member(const State& state, Look& look) {
  const Scalars& scalars = state.scalars();
  const Candidate& candidate = look.candidate;
  Source& source = state.source[candidate.source];
  if (state.settings().budget_per_row < infinity) {
    look.cost += displacement_loss(state, candidate.source, look.list, source.displaced_member);
    return;
  }
  double least = infinity;
  for (std::size_t i = 0; i < look.list.size(); ++i) {
    const Member& b = look.list[i];
    if (state.source[b.source].free) continue;
    double charge = look.loss[i] * (scalars.s2 + look.loss[i]);
    if (candidate.known) {
      const Attribute& first = state.attr[state.source_attributes[source.first]];
      const double n = first.sum_weight / scalars.row_weight, both = joint_rows(state, candidate.source, b);
      const double apart = std::max(0.0, n - both) / (both + scalars.shrinkage);
      const double alike = shared(state, candidate, b, look.loss[i]).square / candidate.c;
      charge *= (1.0 + alike) * (1.0 + apart * look.loss[i] / scalars.s2);
    }
    if (charge < least) {
      least = charge;
      source.displaced_member = b.source;
      look.cost = look.price + look.loss[i];
    }
  }
}

// The member that explains least once the candidate is in; -1: none.
Index weakest_member(const State& state, const Look& look) {
  Index weakest = -1;
  for (std::size_t i = 0; i < look.list.size(); ++i) {
    if (state.source[look.list[i].source].free || look.loss[i] <= 0.0) continue;
    if (weakest < 0 || look.beside[i] < look.beside[weakest]) weakest = static_cast<Index>(i);
  }
  return weakest;
}

// The hypothesis that a member is a proxy: it has its weight only because it is correlated with the candidate. `gain`:
// what the candidate then explains beside the member; value: gain times its probability.
struct ProxyHypothesis { double value, gain; };

// The most valuable such hypothesis; the member and the odds are written into the source.
ProxyHypothesis best_proxy_hypothesis(const State& state, const Look& look) {
  const Scalars& scalars = state.scalars();
  const auto& [s, known, r, c, se, variance, z2, rows, u_] = look.candidate;
  Source& source = state.source[s];
  ProxyHypothesis best{0.0, 0.0};
  for (std::size_t i = 0; i < look.list.size(); ++i) {
    const Member& b = look.list[i];
    if (state.source[b.source].free || look.loss[i] <= 0.0) continue;
    const double u = shared(state, look.candidate, b, look.loss[i]).u;  // under the hypothesis w_j = 1 / u
    double scale = u, signal_variance = 0.0;                            // scale: u in units of the column
    if (b.size == 1) {
      const Column& column = state.fit.column[b.first];
      signal_variance = column.w * column.w * std::pow(column.sd, 2);
      scale = column.w * u;
    } else {
      for (Index a = b.first; a < b.first + b.size; ++a) {
        signal_variance += std::pow(state.fit.column[a].w * state.fit.column[a].sd, 2);
      }
    }
    if (std::abs(scale) <= least_proxy_coefficient) continue;
    const double w_j = 1.0 / u, gain = c * w_j * w_j;
    const double misfit = ((r - c * w_j) * (r - c * w_j) - r * r) / (se * se);
    const double against = misfit + (w_j * w_j * variance - signal_variance) / scalars.expected_effect;
    const double odds = std::exp(-0.5 * std::clamp(against, -100.0, 100.0)), value = gain * odds / (1.0 + odds);
    if (value > best.value && gain < scalars.s2) {
      best = {value, gain};
      source.proxied_member = b.source;
      source.proxy_odds = odds;
    }
  }
  return best;
}

// Under budget_per_row: what s must explain to be in the best basket. beside: what each member explains once s is in.
double required_gain(const State& state, std::span<const Contender> contenders, Index s, std::span<const Member> list,
                     std::span<const double> beside) {
  const Settings& settings = state.settings();
  KnapsackProblem without, with;
  double before = 0.0, after = 0.0;
  for (const Contender& contender : contenders) {
    const double price = contender.source == s ? infinity : contender.price;
    double value = contender.value;
    const auto is_it = [&](const Member& member) { return member.source == contender.source; };
    const auto b = std::find_if(list.begin(), list.end(), is_it);
    if (b != list.end()) value = beside[b - list.begin()];
    without.add(contender.source, contender.value, price);
    with.add(contender.source, value, price);
    if (b == list.end()) continue;
    before += without.value.back();
    after += with.value.back();
  }
  std::vector<Index> taken(contenders.size());
  const double money = settings.budget_per_row - state.source[s].price;
  const double best_without = knapsack(without.value, without.price, settings.k, settings.budget_per_row, taken);
  const double best_with = knapsack(with.value, with.price, settings.k - 1, money, taken);
  return std::max(0.0, (best_without - before) - (best_with - after));
}

// What a candidate whose price must be earned has to explain before it is bought.
double earned_threshold(const State& state, const Look& look, std::span<const Contender> contenders, Index weakest) {
  if (look.room) return look.price;
  if (state.settings().budget_per_row < infinity) {
    return look.price + required_gain(state, contenders, look.candidate.source, look.list, look.beside);
  }
  if (weakest < 0) return look.price;
  return look.price + std::max(0.0, look.beside[weakest] - price_in_error(state, look.list[weakest].source));
}

// Where a look costs a place only: the expected value of knowing the candidate, with a normal posterior for r if it
// matters at all.
double value_of_knowing(const State& state, const Look& look, std::span<const Contender> contenders, Index weakest) {
  const Scalars& scalars = state.scalars();
  const Candidate& candidate = look.candidate;
  const double q = static_cast<double>(state.source[candidate.source].size), c = candidate.c;
  const double sd = candidate.se * std::sqrt(look.ease), mean = look.ease * candidate.r;
  double value = 0.0;
  if (state.settings().budget_per_row < infinity) {
    const double need = required_gain(state, contenders, candidate.source, look.list, look.beside);
    value = value_of_entering(need, mean, sd, c);
  } else if (weakest >= 0) {
    const double loss = look.loss[weakest];
    const double u = candidate.known ? shared(state, candidate, look.list[weakest], loss).u : 0.0;
    value = value_of_replacing(1.0 / loss, mean, sd, c, u, std::sqrt(c * scalars.s2));
  }
  double odds = prior_odds(state);
  if (candidate.known) {
    odds *= std::pow(1.0 - look.ease, 0.5 * q) * std::exp(std::min(0.5 * look.ease * candidate.z2, 50.0));
  }
  return odds < infinity ? value * (odds / (1.0 + odds)) : value;
}

// Where only places limit, or a member may be a proxy: how many looks decide.
double deciding_looks(const State& state, const Look& look, double proxy_gain) {
  const Constants& constants = state.constants();
  const double s2 = state.scalars().s2;
  const Source& source = state.source[look.candidate.source];
  if (source.proxied_member >= 0) return constants.proxy_looks * (s2 + look.cost) / proxy_gain;
  if (look.candidate.known) return look.candidate.rows * (1.0 + (look.cost - look.price) / s2);
  const double n = static_cast<double>(std::max(source.n_bought, source.n_observed));
  const double looks = constants.least_rows + static_cast<double>(source.size) - 1.0 + n;
  // A source that has shown only one value takes longer, because other values are rare.
  const bool rare = static_cast<double>(source.n_observed) > constants.least_rows && shows_one_value(state, source);
  return rare ? looks * constants.least_rows : looks;
}

// Where prices must be earned: the part of its value that one look decides. It is the nats that the look says, over
// those it takes to tell whether the source matters; once that is probable, at most one n-th after n rows.
double part_decided(const State& state, const Look& look, const Posterior& posterior, double threshold) {
  const Constants& constants = state.constants();
  const Source& source = state.source[look.candidate.source];
  const double p = source.probability_relevant, all = posterior.expected_excess(threshold);
  const double nats = all > 0.0 ? posterior.expected_excess_nats(threshold, state.scalars().s2) / all : 0.0;
  const double part = nats / (constants.sure_nats - std::log(p));
  return look.candidate.known && p > 0.5 ? std::min(part, 1.0 / look.candidate.rows) : part;
}

}  // namespace

void set_exploration_value(const State& state, const Candidate& candidate, std::span<const Member> list, bool room,
                           std::span<const Contender> contenders) {
  const Scalars& scalars = state.scalars();
  const Constants& constants = state.constants();
  Source& source = state.source[candidate.source];
  const bool earned = price_in_error(state, candidate.source) > 0.0;
  const Posterior posterior = earned ? posterior_of(state, candidate) : Posterior{};
  source.probability_relevant = 1.0 - posterior.weight[0];
  if (scalars.expected_effect <= 0.0) return;

  Look look = make_look(state, candidate, list, room);
  if (!room) choose_displaced_member(state, look);
  const bool may_be_proxied = !room && candidate.known;
  const ProxyHypothesis proxy = may_be_proxied ? best_proxy_hypothesis(state, look) : ProxyHypothesis{0.0, 0.0};
  const Index weakest = room ? -1 : weakest_member(state, look);

  double value = 0.0, threshold = 0.0;  // value: squared error per row that knowing the candidate saves
  if (earned) {
    threshold = earned_threshold(state, look, contenders, weakest);
    const bool may_join = candidate.known && source.bought_when_rejected == 0;  // then without another look
    const double joining_now = may_join ? std::max(0.0, posterior.mean() - threshold) : 0.0;
    value = posterior.expected_excess(threshold) - joining_now;
  } else {
    value = value_of_knowing(state, look, contenders, weakest);
  }
  if (value > proxy.value) {
    source.proxied_member = -1;
    source.proxy_odds = 0.0;
  } else {
    value = proxy.gain * source.proxy_odds;
  }

  double horizon = constants.horizon * state.rows();
  if (earned) {
    // With few labels, s2 is taken at the low end of what they allow, because money is spent on it.
    if (look.price > scalars.s2 * (1.0 - std::sqrt(2.0 / state.rows()))) return;
    horizon = std::max(horizon, constants.least_horizon);
  }
  if (state.settings().expected_rows < infinity) horizon = rows_left(state);
  // A source that is often missing when it is bought will seldom be of use.
  const double availability = std::min(1.0, (source.n_observed + 1.0) / (source.n_bought + 1.0));
  if (earned && source.proxied_member < 0) {
    const double n = static_cast<double>(source.n_observed);
    const bool rare = n > constants.least_rows && shows_one_value(state, source);  // its other values are
    const double varies = rare ? constants.least_rows / n : 1.0;
    const double decided = varies * value * part_decided(state, look, posterior, threshold);
    source.exploration_value = horizon * availability * decided / (constants.look_fee * look.cost) - 1.0;
    return;
  }
  const double looks = deciding_looks(state, look, proxy.gain);
  source.exploration_value = horizon * availability * value / ((look.cost + 1e-12 * scalars.s2) * looks) - 1.0;
}

void queue_explorations(const State& state) {
  Scalars& scalars = state.scalars();
  const double n_rows = std::min(state.rows(), static_cast<double>(scalars.n_labels));
  const Index most_rows = std::max<Index>(1, static_cast<Index>(most_queue_share * n_rows));
  // Of all candidates of which one member may be a proxy, at most one is right.
  std::vector<double> sum_of_odds(state.source.size(), 0.0);
  for (const Source& source : state.source) {
    if (source.proxied_member >= 0) sum_of_odds[source.proxied_member] += source.proxy_odds;
  }
  const Index size = std::min(static_cast<Index>(state.source.size()), most_rows / 2 + 1);
  std::vector<double> values(static_cast<std::size_t>(size));
  Index waiting = 0, n = 0;
  double least = infinity;
  for (const Index s : state.order) {
    const Source& source = state.source[s];
    if (source.member || source.displaced_member < 0 || source.redundant) continue;
    const double rivals = source.proxied_member >= 0 ? 1.0 + sum_of_odds[source.proxied_member] : 1.0;
    const double value = (1.0 + source.exploration_value) / rivals;
    if (value <= 1.0) continue;
    ++waiting;
    least = std::min(least, state.attr[state.source_attributes[source.first]].sum_weight);
    n = insert_best(values.data(), state.queue.data(), n, size, value, s);
  }
  scalars.queue_size = n;
  scalars.queue_next = 0;
  if (n > 0) {  // refit once each that waits has been looked at: once, or a tenth as often as the least known one
    const double each = std::max(1.0, 0.1 * least / scalars.row_weight);
    const double rows = std::max(1.0, 2.0 * each * static_cast<double>(waiting));
    scalars.refit_at = std::min(scalars.score_at, scalars.n_labels + std::min(static_cast<Index>(rows), most_rows));
  }
}

}  // namespace keyhole::thrifty
