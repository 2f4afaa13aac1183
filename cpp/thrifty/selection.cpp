#include "thrifty/selection.hpp"

#include <array>

#include "thrifty/drift_detector.hpp"
#include "thrifty/knapsack.hpp"
#include "thrifty/redundancy.hpp"

namespace keyhole::thrifty {

namespace {

// Candidates that are tried at a refit, one after the other, until one joins.
constexpr int most_attempts = 6;
// Candidates of which every two are judged together.
constexpr Index most_pair_candidates = 20;
// Share of the residual variance that a pair explains at most, so that the logarithm of the rest exists.
constexpr double most_pair_share = 0.98;
// Natural logarithm: a likelihood ratio above exp(50) tells no more.
constexpr double most_log_ratio = 50.0;
// Share of what the fit explains: a support that explains nearly the same is judged by the same drift statistics.
constexpr double same_signal_share = 0.02;
// Rows that show a candidate, below which it has no likelihood ratio.
constexpr Index least_ratio_rows = 3;

bool change_suspected(const State& state) { return DriftDetector{state.constants()}.suspicious(state.scalars()); }

double total_price(const State& state, std::span<const Member> list) {
  double sum = 0.0;
  for (const Member& b : list) sum += state.source[b.source].price;
  return sum;
}

bool has_room(const State& state, std::span<const Member> list, Index s) {
  if (state.scalars().n_members >= state.settings().k) return false;
  const double most = state.settings().budget_per_row;
  return most == infinity || total_price(state, list) + state.source[s].price <= most;
}

// Returns what a member or candidate explains, less its price.
double net_gain(const State& state, Index s, double explains) { return explains - price_in_error(state, s); }

// Returns what a candidate is expected to explain, less its price. Where its price is paid in every row it counts by
// its posterior, because the estimate of the best of many candidates is too large.
double expected_net_gain(const State& state, const Candidate& candidate) {
  const double price = price_in_error(state, candidate.source);
  if (price > 0.0) return posterior_of(state, candidate).mean() - price;
  return candidate.r * candidate.r / candidate.c;
}

// Whether the evidence for a candidate lets it join. Where it must earn its price this is not asked for.
bool significant(const State& state, const Source& source) {
  if (source.evidence > source.join_threshold) return true;
  return prices_must_be_earned(state) && source.price > 0.0 && state.settings().total_budget == infinity;
}

// Returns a number > 1 if a member of a fit with m columns stays: the ratio of its evidence to its threshold or, where
// it must earn its price, of what it is expected to explain to its price; under a total budget the smaller of both.
double retention_ratio(const State& state, const Fit& fit, Index m, const Member& member) {
  const double price = price_in_error(state, member.source);
  const double earns = price > 0.0 ? posterior_of(state, fit, m, member).mean() / price : infinity;
  if (price > 0.0 && state.settings().total_budget == infinity) return earns;
  return std::min(earns, member_evidence(state, fit, member) / state.source[member.source].leave_threshold);
}

// Returns 1 for the members that stay when source s comes: all if there is room, else all but those that are cheapest
// to lose. losses: what each member explains once s is in.
std::vector<Index> members_to_keep(const State& state, std::span<const Member> list, Index s,
                                   std::span<const double> losses) {
  std::vector<Index> keep(list.size(), 1);
  if (has_room(state, list, s)) return keep;
  const Settings& settings = state.settings();
  KnapsackProblem paid;  // its things are places in `list`
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Source& source = state.source[list[i].source];
    if (source.free) continue;
    paid.add(static_cast<Index>(i), std::max(net_gain(state, list[i].source, losses[i]), 0.0), source.price);
  }
  if (settings.budget_per_row < infinity) {
    const std::vector<Index> taken = paid.best(settings.k - 1, settings.budget_per_row - state.source[s].price);
    for (std::size_t i = 0; i < taken.size(); ++i) keep[paid.thing[i]] = taken[i];
  } else if (!paid.value.empty()) {
    keep[paid.thing[std::min_element(paid.value.begin(), paid.value.end()) - paid.value.begin()]] = 0;
  }
  return keep;
}

// A support that is proposed. Its columns are written into the trial fit as its sources are added.
struct Proposal {
  std::vector<Member> sources;
  std::vector<double> guess;  // expected weights of its columns
  Index m = 0;                // its columns
};

// Add a source without a guess; returns false, and asks for more columns, where there is no room for it.
bool add_source(const State& state, Proposal& proposal, Index s) {
  const Source& source = state.source[s];
  const Index m = proposal.m + source.size;
  if (m > state.width) {
    state.scalars().columns_needed = std::max(state.scalars().columns_needed, m);
    return false;
  }
  for (Index i = 0; i < source.size; ++i) {
    state.trial_fit.column[proposal.m + i].j = state.source_attributes[source.first + i];
  }
  proposal.sources.push_back({s, proposal.m, source.size});
  proposal.m = m;
  return true;
}

// Add the members with keep[i] = 1; the guess is their present weights.
void add_members(const State& state, Proposal& proposal, std::span<const Member> list, std::span<const Index> keep) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!keep[i] || !add_source(state, proposal, list[i].source)) continue;
    for (Index a = 0; a < list[i].size; ++a) proposal.guess.push_back(state.fit.column[list[i].first + a].w);
  }
}

// Add a candidate; the guess is what each of its columns explains alone. Returns false where there is no room.
bool add_candidate(const State& state, Proposal& proposal, Index s) {
  if (!add_source(state, proposal, s)) return false;
  for (Index i = 0; i < state.source[s].size; ++i) {
    const Attribute& attribute = state.attr[state.source_attributes[state.source[s].first + i]];
    const double c = attribute.partial_variance;
    proposal.guess.push_back(c > 0.0 ? attribute.residual_covariance / c : 0.0);
  }
  return true;
}

// Make the first m columns of the trial fit the support, and the trial fit the fit. The support changes nowhere else.
void replace_support(const State& state, Index m) {
  Scalars& scalars = state.scalars();
  const Fit &fit = state.fit, &trial = state.trial_fit;
  for (Index a = 0; a < scalars.m; ++a) {
    Attribute& attribute = state.attr[fit.column[a].j];
    attribute.column = -1;
    state.source[attribute.source].member = 0;
  }
  for (Index a = 0; a < m; ++a) {
    fit.column[a] = trial.column[a];
    Attribute& attribute = state.attr[fit.column[a].j];
    attribute.column = a;
    state.source[attribute.source].member = 1;
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
  scalars.m = m;
  scalars.n_members = 0;
  for (const Member& b : members(state)) scalars.n_members += !state.source[b.source].free;
  scalars.n_support_changes += 1;
  update_residual_variance(state);
  rebuild_sums(state);
}

// Remove the member whose retention ratio is smallest, if it is below 1, or the redundant one (-1: none). Returns
// whether one left.
bool remove_weakest_member(const State& state, Index redundant) {
  Scalars& scalars = state.scalars();
  const std::vector<Member> list = members(state);
  if (state.fit.g(scalars.m, scalars.m) / scalars.row_weight <= state.constants().least_rows) return false;
  Index worst = -1;
  double least = 1.0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (state.source[list[i].source].free) continue;
    double ratio = retention_ratio(state, state.fit, scalars.m, list[i]);
    if (list[i].source == redundant) ratio = -1.0;
    if (ratio < least) {
      least = ratio;
      worst = static_cast<Index>(i);
    }
  }
  if (worst < 0) return false;
  std::vector<Index> keep(list.size(), 1);
  keep[worst] = 0;
  Proposal proposal;
  add_members(state, proposal, list, keep);
  state.source[list[worst].source].left_at = scalars.n_labels;
  fit_trial(state, proposal.m, proposal.guess);
  replace_support(state, proposal.m);
  return true;
}

// Fit a proposal of the members with keep[i] = 1 followed by newcomers. Adopt it if each newcomer is retained in that
// fit and, where members leave for them, if the whole explains more net of prices. Returns whether it was adopted.
bool try_newcomers(const State& state, const Proposal& proposal, std::span<const Member> list,
                   std::span<const Index> keep) {
  Scalars& scalars = state.scalars();
  double explained_now = state.fit.label->explained, prices = 0.0;
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (keep[i]) ++n_kept;
    else explained_now -= price_in_error(state, list[i].source);
  }
  fit_trial(state, proposal.m, proposal.guess);
  for (std::size_t i = n_kept; i < proposal.sources.size(); ++i) {
    prices += price_in_error(state, proposal.sources[i].source);
    if (!(retention_ratio(state, state.trial_fit, proposal.m, proposal.sources[i]) > 1.0)) return false;
  }
  if (n_kept < list.size()) {
    const double rows = state.trial_fit.g(proposal.m, proposal.m) / scalars.row_weight;
    const double explained = state.trial_fit.label->explained;
    if (rows < state.constants().least_rows * static_cast<double>(proposal.m)) return false;
    if (explained > scalars.y_var || explained - prices <= explained_now) return false;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!keep[i]) state.source[list[i].source].left_at = scalars.n_labels;
  }
  replace_support(state, proposal.m);
  return true;
}

// Try candidate s beside or in place of members; returns whether it joined.
bool try_candidate(const State& state, Index s) {
  const std::vector<Member> list = members(state);
  std::vector<double> u, losses(list.size());
  const Candidate candidate = evaluate_candidate(state, s, u);
  if (candidate.variance <= 0.0) return false;
  losses_beside(state, candidate, candidate.r, list, losses.data());
  const std::vector<Index> keep = members_to_keep(state, list, s, losses);
  Proposal proposal;
  add_members(state, proposal, list, keep);
  std::size_t next = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {  // the weights of members change by what they share with the candidate
    if (!keep[i]) continue;
    for (Index a = list[i].first; a < list[i].first + list[i].size; ++a) {
      proposal.guess[next++] = state.fit.column[a].w - candidate.u[a] * candidate.r / candidate.c;
    }
  }
  return add_candidate(state, proposal, s) && try_newcomers(state, proposal, list, keep);
}

void set_likelihood_ratio(const State& state, Source& source, const Candidate& candidate) {
  const Attribute& first = state.attr[state.source_attributes[source.first]];
  source.likelihood_ratio = 0.0;
  if (candidate.variance <= 0.0 || first.n_rows < least_ratio_rows || candidate.se <= 0.0) return;
  const double log_ratio = log_likelihood_ratio(candidate, source.size, state.scalars().expected_effect);
  source.likelihood_ratio = std::max(1e-300, std::exp(std::min(log_ratio, most_log_ratio)));
}

void set_evidence(const State& state, Source& source, const Candidate& candidate) {
  source.evidence = candidate.known ? corrected_evidence(state, candidate) : 0.0;
  source.gain = candidate.known ? candidate.r * candidate.r / candidate.c : 0.0;
}

// Whether a candidate that failed to join was bought often enough since to try again.
bool may_retry(const State& state, const Source& source) {
  const double rejected = static_cast<double>(source.bought_when_rejected);
  return static_cast<double>(source.n_bought) >= state.constants().retry_looks * rejected;
}

// Returns what the support would explain more, net of prices, if a significant candidate joins now; `losses` is
// scratch.
double join_gain(const State& state, const Candidate& candidate, std::span<const Member> list, bool room,
                 std::span<double> losses) {
  double gain = expected_net_gain(state, candidate);
  if (room) return gain;
  losses_beside(state, candidate, candidate.r, list, losses.data());
  const std::vector<Index> keep = members_to_keep(state, list, candidate.source, losses);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!keep[i]) gain -= net_gain(state, list[i].source, losses[i]);
  }
  return gain;
}

// Score the candidates: join_gain > 0 for every source that should join now, exploration_value > 0 for those that
// should be looked at. Unless `all`, only those that were bought since the last time, and rows are not reweighted.
void score_candidates(const State& state, bool all) {
  Scalars& scalars = state.scalars();
  const Settings& settings = state.settings();
  const std::vector<Member> list = members(state);
  std::vector<double> u, losses(list.size());
  scalars.rate = rate(state);
  scalars.shrinkage = shrinkage(state);
  if (all) {
    reweight(state);
    scalars.expected_effect = expected_effect(state);
    if (prices_must_be_earned(state)) update_prior(state);
  }
  std::vector<Contender> contenders;
  if (settings.budget_per_row < infinity) {  // what each candidate explains decides for the others, too
    for (Index s = 0; s < static_cast<Index>(state.source.size()); ++s) {
      Source& source = state.source[s];
      if (!source.member && source.n_observed > 0) set_evidence(state, source, evaluate_candidate(state, s, u));
    }
    contenders = basket_contenders(state, list);
  }
  for (Index s = 0; s < static_cast<Index>(state.source.size()); ++s) {
    Source& source = state.source[s];
    if (!all && source.bought_when_scored == source.n_bought) continue;
    source.join_gain = source.proxy_odds = 0.0;
    source.exploration_value = -1.0;
    source.displaced_member = source.proxied_member = -1;
    source.bought_when_scored = source.n_bought;
    if (source.member) continue;
    Candidate candidate;
    candidate.source = s;
    candidate.u = u.data();
    if (source.n_observed > 0) candidate = evaluate_candidate(state, s, u);
    set_likelihood_ratio(state, source, candidate);
    set_evidence(state, source, candidate);
    const bool room = has_room(state, list, s);
    const bool may_join = candidate.known && !source.redundant && source.left_at != scalars.n_labels;
    if (may_join && may_retry(state, source) && significant(state, source)) {
      source.join_gain = join_gain(state, candidate, list, room, losses);
    }
    const bool costly = room ? price_in_error(state, s) > 0.0 : scalars.n_members > 0 && settings.k0 == 0;
    if (costly && source.price <= settings.budget_per_row) {
      set_exploration_value(state, candidate, list, room, contenders);
    }
  }
}

// Try the sources that should join, the best first, of equals the first in the seeded order; returns whether one
// joined.
bool add_best_candidate(const State& state) {
  for (int i = 0; i < most_attempts; ++i) {
    Index best = state.order[0];
    for (const Index s : state.order) best = state.source[s].join_gain > state.source[best].join_gain ? s : best;
    Source& source = state.source[best];
    if (source.join_gain <= 0.0) return false;
    if (try_candidate(state, best)) return true;
    source.join_gain = 0.0;
    source.bought_when_rejected = source.n_bought;
  }
  return false;
}

// Two candidates, their expected weights, and the evidence for both together over what they need to join.
struct CandidatePair {
  std::array<Index, 2> source;
  std::array<double, 2> weight;
  double ratio;
};

// Least squares of the residual on two candidates, over the rows that show both.
CandidatePair evaluate_pair(const State& state, Index first, Index second, const JointSums& sums) {
  const Scalars& scalars = state.scalars();
  const CandidatePair none{{first, second}, {0.0, 0.0}, 0.0};
  const double rows = sums.n / scalars.row_weight;
  if (rows < state.constants().least_rows + 2.0) return none;
  const auto cov = [&](double both, double a, double b) { return both / sums.n - a * b / (sums.n * sums.n); };
  const double var_x = cov(sums.xx, sums.x, sums.x), var_z = cov(sums.zz, sums.z, sums.z);
  const double cov_xz = cov(sums.xz, sums.x, sums.z), determinant = var_x * var_z - cov_xz * cov_xz;
  const double cov_xe = cov(sums.xe, sums.x, sums.e), cov_ze = cov(sums.ze, sums.z, sums.e);
  const double most = state.constants().max_correlation;
  if (determinant <= (1.0 - most * most) * var_x * var_z) return none;
  const double w_x = (var_z * cov_xe - cov_xz * cov_ze) / determinant;
  const double w_z = (var_x * cov_ze - cov_xz * cov_xe) / determinant;
  const double share = std::min((w_x * cov_xe + w_z * cov_ze) / scalars.s2, most_pair_share);
  const double evidence = -std::log1p(-share) * std::max(0.0, rows - state.constants().fit_by_chance - 1.0);
  const double needed = state.source[first].join_threshold + state.source[second].join_threshold;
  return {{first, second}, {w_x, w_z}, evidence / needed};
}

// Returns the pair with the most evidence among the best candidates of one attribute each.
CandidatePair best_pair(const State& state) {
  std::vector<double> values(most_pair_candidates);
  std::vector<Index> best(most_pair_candidates), attributes;
  Index size = 0;
  for (const Index s : state.order) {
    const Source& source = state.source[s];
    if (source.member || source.redundant || source.size > 1 || source.evidence <= 0.0) continue;
    if (source.left_at == state.scalars().n_labels) continue;
    size = insert_best(values.data(), best.data(), size, most_pair_candidates, source.evidence, s);
  }
  best.resize(static_cast<std::size_t>(size));
  for (const Index s : best) attributes.push_back(state.source_attributes[state.source[s].first]);
  std::vector<JointSums> sums;
  sum_jointly(state, attributes, sums);
  CandidatePair out{{-1, -1}, {0.0, 0.0}, 0.0};
  for (Index i = 0; i < size; ++i) {
    for (Index l = i + 1; l < size; ++l) {
      const CandidatePair pair = evaluate_pair(state, best[i], best[l], sums[i * size + l]);
      if (pair.ratio > out.ratio) out = pair;
    }
  }
  return out;
}

// Sets keep[i] = 0 for the members that explain least net of their price until the pair has places and money; returns
// false where the pair costs too much by itself.
bool make_room(const State& state, const CandidatePair& pair, std::span<const Member> list, std::span<Index> keep) {
  const Settings& settings = state.settings();
  Index places = state.scalars().n_members + 2;
  double money = total_price(state, list) + state.source[pair.source[0]].price + state.source[pair.source[1]].price;
  while (places > settings.k || money > settings.budget_per_row) {
    Index weakest = -1;
    double least = infinity;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!keep[i] || state.source[list[i].source].free) continue;
      const double net = net_gain(state, list[i].source, member_loss(state, state.fit, list[i]));
      if (net < least) {
        least = net;
        weakest = static_cast<Index>(i);
      }
    }
    if (weakest < 0) return false;
    keep[weakest] = 0;
    places -= 1;
    money -= state.source[list[weakest].source].price;
  }
  return true;
}

// Add two candidates that explain together what neither explains alone, if their evidence exceeds what both need;
// returns whether they joined. The stored rows are read for this only each time there are twice as many labels.
bool add_best_pair(const State& state) {
  Scalars& scalars = state.scalars();
  if (scalars.n_labels < scalars.pair_search_at || state.settings().k < 2) return false;
  scalars.pair_search_at = 2 * scalars.n_labels;
  const CandidatePair pair = best_pair(state);
  if (pair.ratio <= 1.0) return false;
  const std::vector<Member> list = members(state);
  std::vector<Index> keep(list.size(), 1);
  if (!make_room(state, pair, list, keep)) return false;
  Proposal proposal;
  add_members(state, proposal, list, keep);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!add_source(state, proposal, pair.source[i])) return false;
    proposal.guess.push_back(pair.weight[i]);
  }
  return try_newcomers(state, proposal, list, keep);
}

// Under budget_per_row: adopt the best basket of all members and significant candidates, if it has a newcomer, if all
// its sources are retained in its fit, and if it explains more there than the support does. Returns whether it was
// adopted.
bool adopt_best_basket(const State& state) {
  const Settings& settings = state.settings();
  const std::vector<Member> list = members(state);
  KnapsackProblem problem;
  for (const Contender& c : basket_contenders(state, list)) {
    problem.add(c.source, std::max(net_gain(state, c.source, c.value), 0.0), c.price);
  }
  const std::vector<Index> taken = problem.best(settings.k, settings.budget_per_row);
  std::vector<Index> keep;
  for (const Member& b : list) {
    bool stays = state.source[b.source].free;
    for (std::size_t i = 0; i < taken.size(); ++i) stays = stays || (problem.thing[i] == b.source && taken[i]);
    keep.push_back(stays);
  }
  Proposal proposal;
  add_members(state, proposal, list, keep);
  bool newcomer = false;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i] || state.source[problem.thing[i]].member) continue;
    newcomer = true;
    if (!add_candidate(state, proposal, problem.thing[i])) return false;
  }
  if (!newcomer) return false;
  fit_trial(state, proposal.m, proposal.guess);
  for (const Member& b : proposal.sources) {  // members, too: one that is not retained would leave at once
    if (state.source[b.source].free) continue;
    if (!(retention_ratio(state, state.trial_fit, proposal.m, b) > 1.0)) return false;
  }
  if (state.trial_fit.label->explained <= state.fit.label->explained) return false;
  replace_support(state, proposal.m);
  return true;
}

std::vector<Index> support(const State& state) {
  std::vector<Index> out;
  for (const Member& b : members(state)) out.push_back(b.source);
  std::sort(out.begin(), out.end());
  return out;
}

// Replace the support by the members of a stored regime, whose rows count again (regime_memory.hpp).
void restore_regime(const State& state) {
  Scalars& scalars = state.scalars();
  const Index n_sources = static_cast<Index>(state.source.size()), i = scalars.refit_regime - 1;
  const Index* stored = state.stored_regime_members.data() + i * n_sources;
  Proposal proposal;
  for (Index s = 0; s < n_sources; ++s) {
    if (state.source[s].free) add_source(state, proposal, s);
  }
  for (Index l = 0; l < state.stored_regime[i].n_members; ++l) add_source(state, proposal, stored[l]);
  proposal.guess.assign(static_cast<std::size_t>(proposal.m), 0.0);
  fit_trial(state, proposal.m, proposal.guess);
  replace_support(state, proposal.m);
  DriftDetector::reset(scalars);
  scalars.refit_regime = 0;
}

}  // namespace

void refit(const State& state) {
  Scalars& scalars = state.scalars();
  const Index most_changes = 2 * std::min<Index>(state.settings().k, state.width) + 4;
  if (scalars.refit_regime != 0) restore_regime(state);
  const std::vector<Index> before = support(state);
  solve(state, state.fit, scalars.m);
  update_residual_variance(state);
  const double explained_before = state.fit.label->explained;
  bool all = scalars.n_labels >= scalars.score_at;
  const bool limited = state.settings().budget_per_row < infinity;
  Index redundant = scalars.score_at > 0 && all ? mark_redundant(state) : -1;
  // While a change is suspected, the rows may be a mixture of before and after: the support stays as it is.
  const bool stays = change_suspected(state);
  if (stays) score_candidates(state, all);
  for (Index changes = 0; changes < most_changes && !stays; ++changes, all = true) {
    if (remove_weakest_member(state, redundant)) {
      redundant = -1;
      continue;
    }
    score_candidates(state, all);
    if (add_best_candidate(state) || (all && add_best_pair(state))) continue;
    if (!(limited && adopt_best_basket(state))) break;
  }
  const double explained = state.fit.label->explained, change = std::abs(explained - explained_before);
  const bool same_signal = change <= same_signal_share * std::max(explained, explained_before);
  if (support(state) != before && !same_signal) DriftDetector::reset(scalars);
  if (all) {
    const double n = std::min(state.rows(), static_cast<double>(scalars.n_labels));
    scalars.score_at = scalars.n_labels + std::max<Index>(1, static_cast<Index>(state.constants().refit_rows * n));
  }
  scalars.refit_at = scalars.score_at;
  queue_explorations(state);
}

bool rescore_shown_candidates(const State& state, Index t) {
  Scalars& scalars = state.scalars();
  if (scalars.shrinkage == 0.0) return false;  // nothing was scored yet
  const Row& row = state.row[t];
  const bool may_join = scalars.n_members < state.settings().k && !change_suspected(state);
  bool should_join = false;
  std::vector<Member> list;
  for (Index p = row.begin; p < row.begin + row.size; ++p) {
    const Index s = state.attr[state.value[p].j].source;
    if (p > row.begin && state.attr[state.value[p - 1].j].source == s) continue;
    Source& source = state.source[s];
    if (source.member || source.redundant) continue;
    const Candidate candidate = evaluate_candidate(state, s, state.scratch.u);
    set_likelihood_ratio(state, source, candidate);
    if (price_in_error(state, s) > 0.0 && source.displaced_member < 0) {  // is another look still worth its price?
      if (list.empty()) list = members(state);
      source.exploration_value = -1.0;
      set_exploration_value(state, candidate, list, true, {});
    }
    if (!candidate.known) continue;
    set_evidence(state, source, candidate);
    if (!may_join || !may_retry(state, source)) continue;
    should_join = should_join || (significant(state, source) && expected_net_gain(state, candidate) > 0.0);
  }
  return should_join;
}

}  // namespace keyhole::thrifty
