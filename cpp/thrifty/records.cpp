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
    out.push_back({"Attribute", sizeof(R), {F(source), F(slot), F(place), F(n), F(x), F(h), F(e), F(xe), F(c), F(r), F(se),
      F(xx), F(rows), F(mark), F(ref), F(unit), F(observed), F(raw_n), F(raw_x), F(raw_xx), F(far), F(genuine), F(limit),
      F(absurd)}});
  }
  {
    using R = Source;
    out.push_back({"Source", sizeof(R), {F(price), F(member), F(determined), F(asked), F(observed), F(ratio), F(value),
      F(matters), F(first), F(size), F(within), F(always), F(scored), F(failed), F(left), F(join_at),
      F(leave_at), F(gain), F(displaced), F(proxy), F(odds), F(determined_at), F(released), F(z2), F(adds)}});
  }
  {
    using R = Pair;
    out.push_back({"Pair", sizeof(R), {F(n), F(x_j), F(x_a), F(x_jj), F(x_aa), F(x_ja), F(x_ae), F(pull), F(u),
      F(own_n), F(own_xa)}});
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
    out.push_back({"Column", sizeof(R), {F(j), F(w), F(x_bar), F(sd), F(cond), F(bend)}});
  }
  {
    using R = FitLabel;
    out.push_back({"FitLabel", sizeof(R), {F(y_bar), F(explained)}});
  }
  {
    using R = Now;
    out.push_back({"Now", sizeof(R), {F(row_weight), F(n), F(y), F(yy), F(y_mean), F(y_var), F(y_low), F(y_high),
      F(y_ref), F(y_unit), F(s2), F(error2), F(n_labels), F(n_past), F(fy), F(ff), F(alpha), F(epoch), F(label_reach),
      F(level_reported), F(level_strayed), F(level_aside), F(recent_n), F(recent_f), F(recent_y), F(recent_ff),
      F(recent_fy), F(recent_loss), F(past_n), F(past_f), F(past_y), F(past_ff), F(past_fy), F(past_loss),
      F(recent_error2), F(cusum), F(cusum_recalibrated), F(cusum_weights), F(n_alarms), F(regime), F(regime_left),
      F(regime_ended), F(trial), F(trial_at), F(trial_evidence), F(refit_sources), F(past_s2), F(past_evidence),
      F(past_until), F(m), F(n_members), F(moves),
      F(heard), F(heard_at), F(heard_s2), F(news), F(refit_at), F(score_at), F(joint_at), F(queued), F(turn), F(lend),
      F(shrinkage), F(expects), F(oldest), F(n_rows), F(head), F(n_asked), F(spent), F(spent_low), F(member_account),
      F(look_account), F(rate), F(wants_columns)}});
  }
  {
    using R = Alarm;
    out.push_back({"Alarm", sizeof(R), {F(row), F(past), F(level), F(slope_before), F(slope_after), F(forgotten),
      F(returned)}});
  }
  {
    using R = Account;
    out.push_back({"Account", sizeof(R), {F(c), F(gain), F(belief)}});
  }
  {
    using R = Kept;
    out.push_back({"Kept", sizeof(R), {F(regime), F(ended), F(row_weight), F(s2), F(n), F(tried)}});
  }
  {
    using R = Given;
    out.push_back({"Given", sizeof(R), {F(k), F(k0), F(k_prior), F(budget_per_row), F(error_cost), F(total_budget),
      F(expected_rows), F(decay), F(label_center)}});
  }
  {
    using R = Constants;
    out.push_back({"Constants", sizeof(R), {F(prior_rows), F(residual_floor), F(few), F(least_own), F(most_alike),
      F(fit_by_chance), F(reweight_news), F(reweight_rows), F(rescore_rows), F(retry_looks), F(horizon),
      F(least_horizon), F(sure_nats), F(look_fee), F(prior_sources), F(look_rows), F(lend_share), F(standin_looks), F(timid), F(range_slack), F(outlier_sd), F(outlier_trust), F(outlier_step),
      F(outlier_nats), F(level_switch), F(level_leave), F(drift_memory), F(drift_threshold), F(drift_young),
      F(drift_stayed), F(drift_worse), F(forget), F(forget_slowly), F(regime_nats), F(interval_step)}});
  }
  return out;
}

#undef F

}  // namespace keyhole::thrifty
