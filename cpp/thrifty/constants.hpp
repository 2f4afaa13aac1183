// The numbers that can be tuned in thrifty, in one place, with unit and meaning.
//
// docs/thrifty.md prints this table with the effect of halving and doubling each entry, which benchmarks/ablation.py
// measures. Numbers that only bound work or guard a division stand, named, in the file that uses them.
#pragma once

namespace keyhole::thrifty {

struct Constants {
  // Fit
  double prior_rows = 5.0;          // rows: pseudo-rows with each member's own mean and variance (ridge)
  double residual_floor = 0.3;      // share of the mean squared prediction error that s2 is at least
  double least_rows = 5.0;          // rows: fewer values than this decide nothing
  // Evidence beside the support
  double max_correlation = 0.995;   // a larger correlation cannot be estimated; 1 - its square: least share of a variance
  double fit_by_chance = 2.5;       // rows: Bartlett correction for a fitted intercept and slope
  double refit_rows = 0.03;         // share: more rows before candidates are scored, and rows that show them reweighted
  double reweight_rows = 0.10;      // share: more rows of any kind before all rows are reweighted
  double retry_looks = 1.1;         // ratio of looks after which a candidate that failed to join may try again
  // Exploration
  double horizon = 2.0;             // rows in which a look pays off, per row so far
  double least_horizon = 150.0;     // rows in which a look that costs money pays off, at least
  double sure_nats = 3.0;           // nats, plus ln 1/p, that show whether a source with probability p matters
  double look_fee = 0.5;            // share of its price that a look is charged, because looks stop at the first bad sign
  double prior_sources = 12.0;      // sources: the weight of the prior on how many sources matter, and how much
  double look_rows = 20.0;          // rows: the most rows' pace that may be saved up for looks under a total budget
  double displacement_share = 0.5;  // share of rows that may displace a member while a look is worth it
  double proxy_looks = 32.0;        // looks that tell a proxy from the source it is a proxy for
  // Prediction
  double alpha_ridge = 2.0;         // residual variances added to the denominator of the slope alpha
  // Outlier clip and label guard
  double outlier_sd = 6.0;          // standard deviations: a value or label beyond is an outlier
  double outlier_trust = 8.0;       // ratio: how far beyond a confirmed outlier other values are believed
  double outlier_step = 1.5;        // ratio by which the limit moves once a value was rejected
  // Level tracker
  double level_switch = 1e-3;       // probability per row that another gain follows the level better
  double level_leave = 2e-5;        // probability per row, at most, that a constant level starts to move
  // Drift detector and regimes
  double drift_memory = 40.0;       // rows: the memory of the recalibration
  double drift_threshold = 10.0;    // nats, plus ln(rows): evidence that raises an alarm
  double drift_young = 100.0;       // rows: a younger support is not judged (single weights: 3 times as many)
  double drift_worse = 0.25;        // nats per row by which the recent loss must exceed the earlier one
  double forget = 1e3;              // ratio: what the weight of the past is divided by at an alarm
  double forget_slowly = 20.0;      // ratio: the same where weights move slowly
  // Outliers, regimes and past rows
  double decision_nats = 3.0;       // nats of evidence that accept or reject an outlier, a returning regime, past rows
  // Intervals
  double interval_step = 0.05;      // log units: step of the running quantiles
};

}  // namespace keyhole::thrifty
