#include "thrifty/records.hpp"

namespace keyhole::thrifty {

namespace {

template <class Record, class T>
Field field(const char* name, T Record::*member) {
  static const Record probe{};
  const auto at = reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe);
  return {name, static_cast<std::size_t>(at), std::is_same_v<T, Index>};
}

}  // namespace

#define F(name) field(#name, &R::name)

std::vector<Layout> layouts() {
  std::vector<Layout> out;
  {
    using R = Attribute;
    out.push_back({"Attribute", sizeof(R), {F(source), F(slot), F(column), F(sum_weight), F(sum_x), F(weighted_n),
      F(weighted_e), F(weighted_xe), F(partial_variance), F(residual_covariance), F(standard_error), F(sum_xx),
      F(n_rows), F(scratch_index), F(ref), F(unit), F(n_observed), F(raw_n), F(raw_x), F(raw_xx),
      F(largest_deviation), F(outlier_evidence), F(outlier_limit), F(n_rejected_outliers)}});
  }
  {
    using R = Source;
    out.push_back({"Source", sizeof(R), {F(price), F(member), F(redundant), F(n_bought), F(n_observed),
      F(likelihood_ratio), F(exploration_value), F(probability_relevant), F(first), F(size), F(first_product),
      F(free), F(bought_when_scored), F(bought_when_rejected), F(left_at), F(join_threshold), F(leave_threshold),
      F(join_gain), F(displaced_member), F(proxied_member), F(proxy_odds), F(redundant_since),
      F(judged_again_at), F(evidence), F(gain)}});
  }
  {
    using R = Pair;
    out.push_back({"Pair", sizeof(R), {F(n), F(x_j), F(x_a), F(x_jj), F(x_aa), F(x_ja), F(x_ae),
      F(imputed_covariance), F(u), F(partial_n), F(partial_xa)}});
  }
  {
    using R = Row;
    out.push_back({"Row", sizeof(R), {F(y), F(weight), F(regime), F(begin), F(size)}});
  }
  {
    using R = Value;
    out.push_back({"Value", sizeof(R), {F(j), F(x)}});
  }
  {
    using R = Column;
    out.push_back({"Column", sizeof(R), {F(j), F(w), F(x_bar), F(sd), F(partial_variance), F(recent_shift)}});
  }
  {
    using R = FitLabel;
    out.push_back({"FitLabel", sizeof(R), {F(y_bar), F(explained)}});
  }
  {
    using R = Scalars;
    out.push_back({"Scalars", sizeof(R), {F(row_weight), F(sum_weight), F(sum_y), F(sum_yy), F(y_mean), F(y_var),
      F(y_low), F(y_high), F(y_ref), F(y_unit), F(s2), F(prediction_mse), F(n_labels), F(n_past_rows), F(slope_fy),
      F(slope_ff), F(alpha), F(memory_start), F(label_tolerance), F(level_reported), F(level_deviation2),
      F(level_rows_away), F(lagged_xx), F(lagged_xz), F(recent_n), F(recent_f), F(recent_y), F(recent_ff), F(recent_fy),
      F(recent_loss), F(baseline_n), F(baseline_f), F(baseline_y), F(baseline_ff), F(baseline_fy), F(baseline_loss), F(recent_mse),
      F(cusum), F(cusum_recalibrated), F(cusum_weights), F(n_alarms), F(regime), F(previous_regime),
      F(previous_row_weight), F(regime_on_trial), F(trial_start), F(trial_evidence), F(refit_regime), F(past_s2),
      F(past_evidence), F(past_until), F(m), F(n_members), F(n_support_changes), F(reweighted_support),
      F(reweighted_at), F(reweighted_s2), F(n_candidate_rows), F(refit_at), F(score_at), F(pair_search_at),
      F(queue_size), F(queue_next), F(displacement_credit), F(shrinkage), F(expected_effect), F(oldest), F(n_rows),
      F(head), F(n_asked), F(spent), F(spent_remainder), F(member_account), F(look_account), F(rate),
      F(columns_needed)}});
  }
  {
    using R = Alarm;
    out.push_back({"Alarm", sizeof(R), {F(row), F(past), F(level), F(slope_before), F(slope_after), F(forgotten),
      F(returned)}});
  }
  {
    using R = LevelExpert;
    out.push_back({"LevelExpert", sizeof(R), {F(level), F(gain), F(weight)}});
  }
  {
    using R = StoredRegime;
    out.push_back({"StoredRegime", sizeof(R), {F(regime), F(ended_at), F(ended_row), F(row_weight), F(s2), F(n_members),
      F(tried)}});
  }
  {
    using R = Settings;
    out.push_back({"Settings", sizeof(R), {F(k), F(k0), F(expected_relevant), F(budget_per_row), F(error_cost),
      F(total_budget), F(expected_rows), F(decay), F(stated_budget_per_row)}});
  }
  {
    using R = Constants;
    out.push_back({"Constants", sizeof(R), {F(prior_rows), F(residual_floor), F(least_rows), F(max_correlation),
      F(fit_by_chance), F(refit_rows), F(reweight_rows), F(retry_looks), F(horizon),
      F(least_horizon), F(sure_nats), F(look_fee), F(prior_sources), F(look_rows), F(displacement_share),
      F(proxy_looks), F(alpha_ridge), F(outlier_sd), F(outlier_trust), F(outlier_step), F(level_switch),
      F(level_leave), F(drift_memory), F(drift_threshold), F(drift_young), F(drift_worse),
      F(forget), F(forget_slowly), F(decision_nats), F(interval_step)}});
  }
  return out;
}

#undef F

}  // namespace keyhole::thrifty
