// Every number that decides what thrifty does, in one place: unit, meaning, and what it was chosen by.
// docs/thrifty.md prints this table with the ablations; benchmarks/ablation.py changes one entry at a time.
#pragma once

namespace keyhole::thrifty {

struct Constants {
  // Fit
  double prior_rows = 5.0;         // rows: pseudo-rows of each member's own mean and variance (ridge)
  double residual_floor = 0.3;     // share of the mean squared prediction error below which s2 is not believed
  double few = 5.0;                // rows: fewer values than this decide nothing
  // Evidence beside the support
  double least_own = 0.03;         // share of a candidate's variance that is always taken to be its own
  double most_alike = 0.995;       // correlation: larger ones are not estimable from joint rows
  double fit_by_chance = 2.5;      // rows: Bartlett correction, lost to intercept and slope
  double reweight_news = 0.03;     // share: more rows that show candidates before all rows are reweighted
  double reweight_rows = 0.10;     // share: more rows of any kind before all rows are reweighted
  double rescore_rows = 0.03;      // share: more rows before all candidates are scored again
  double retry_looks = 1.1;        // ratio of looks after which a candidate that failed may try again
  // Exploration
  double horizon = 2.0;            // rows that a look pays for, per row so far
  double least_horizon = 150.0;    // rows that a look pays for, at least, where it costs money
  double sure_nats = 3.0;          // nats, plus ln 1/p: what it takes to find a source that matters with probability p
  double look_fee = 0.5;           // share of its price that a look is charged: looks end as soon as they speak against it
  double prior_sources = 12.0;     // sources that the prior of what matters counts for
  double look_rows = 20.0;         // rows: how many rows' pace may be saved up for looks
  double lend_share = 0.5;         // share of rows that may displace a member while a look is worth it
  double standin_looks = 32.0;     // looks that tell a stand-in from what it stands for
  // Prediction
  double timid = 2.0;              // residual variances added to the slope alpha's denominator
  double range_slack = 0.05;       // label ranges that a prediction may leave the range of the labels by
  // Outlier clip and label guard
  double outlier_sd = 6.0;         // standard deviations: a value or label beyond is an outlier
  double outlier_trust = 8.0;      // ratio: how far beyond a confirmed outlier others are believed
  double outlier_step = 1.5;       // ratio: by which the limit moves once a value was found to be absurd
  double outlier_nats = 2.0;       // nats: what a label must say for or against an outlier
  // Level tracker
  double level_switch = 1e-3;      // probability a row: a gain that follows the level is right no longer
  double level_leave = 2e-5;       // probability a row, at most: the level that was constant moves
  // Drift detector and regimes
  double drift_memory = 40.0;      // rows: what the recalibration remembers
  double drift_threshold = 10.0;   // nats, plus ln(rows): evidence that raises an alarm
  double drift_young = 100.0;      // rows: a younger support is not judged
  double drift_stayed = 300.0;     // rows: and 5 % of all, before changed weights may raise an alarm
  double drift_worse = 0.25;       // nats a row: the recent loss must exceed the earlier one by
  double forget = 1e3;             // ratio: what the past is divided by at an alarm
  double forget_slowly = 20.0;     // ratio: the same where weights move slowly
  double regime_nats = 3.0;        // nats: evidence that accepts or rejects a regime that may have returned
  // Intervals
  double interval_step = 0.05;     // log units: step of the running quantiles
};

}  // namespace keyhole::thrifty
