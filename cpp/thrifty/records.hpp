// The state of thrifty: records that Python allocates as numpy structured arrays, shows, saves and checks.
//
// Notation, as in docs/thrifty.md: j is an attribute, s a source (one or more attributes bought together), a and e are
// columns of the fit (the attributes of the support M), t is a stored row, w are the weights of the columns, s2 is the
// residual variance, V the covariance of w divided by s2, C the covariance of the columns, P = C^-1.
//
// Sums over rows are weighted. To forget the past the weight of new rows grows: it is scalars.row_weight, so that
// sum / row_weight is a number of present rows. Values and labels are stored as (x - ref) / unit, where the unit is a
// power of two, so that no digit is lost. Points in time ("..._at") are counts of labels.
//
// Every field takes eight bytes. `layouts` lists the fields by name, and Python builds its dtypes from that list.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "constants.hpp"

namespace keyhole::thrifty {

using Index = std::int64_t;
inline constexpr double infinity = std::numeric_limits<double>::infinity();

struct Attribute {
  Index source, slot;              // its source, and its position among the attributes of that source
  Index column;                    // its column in the fit, or -1
  double sum_weight, sum_x;        // sums of 1 and x over the stored rows that show it while it is outside the support
  double weighted_n, weighted_e, weighted_xe;  // sums of 1, e, x e with the weights of evidence.hpp; e: the residual
  double partial_variance, residual_covariance, standard_error;  // beside the support: V_j, r_j and se of r_j
  double sum_xx; Index n_rows;     // sum of x^2, and the number of those rows
  Index scratch_index;             // its index in a list while sums are built, else -1
  double ref, unit;                // scale of the stored values; unit 0: it has shown only one value
  Index n_observed;
  double raw_n, raw_x, raw_xx;     // sums of 1, x, x^2 over all its values, inside and outside the support
  double largest_deviation, outlier_evidence, outlier_limit;  // outlier clip
  Index n_rejected_outliers;
};

struct Source {                      // the fields that every row reads come first
  double price;                    // money, in the row that is asked next
  Index member, redundant;         // 1: in the support; 1: tells nothing that the support does not
  Index n_bought, n_observed;      // rounds that bought it; rows that showed any of its attributes
  double likelihood_ratio;         // of an effect of the members' size to no effect; 0: not yet estimated
  double exploration_value;        // what a look is worth over what it costs, less 1; > 0: worth it
  double probability_relevant;     // where prices must be earned: the probability that it explains anything
  Index first, size;               // its attributes are source_attributes[first : first + size]
  Index first_product;             // its matrix is partial_products[first_product : first_product + size^2]
  Index free;                      // 1: comes with every row
  Index bought_when_scored, bought_when_rejected;  // n_bought when it was last scored; when it last failed to join
  Index left_at;                   // when it last had to leave
  double join_threshold, leave_threshold;  // evidence above which it joins, below which it leaves
  double join_gain;                // > 0: what the support explains more if it joins now
  Index displaced_member;          // the member source whose place a look takes; -1: none
  Index proxied_member;            // the member source that may only be a proxy for this one; -1: none
  double proxy_odds;               // odds that it is
  Index redundant_since, judged_again_at;  // when it became redundant; n_bought at which it may become so again
  double evidence, gain;           // z^2 after the Bartlett correction; r' V^-1 r, what it explains beside the support
};

struct Pair {                        // pair[j, a]: sums over the rows that show attribute j and column a of the fit
  double n, x_j, x_a, x_jj, x_aa, x_ja;
  double x_ae, imputed_covariance; // over all weighted rows of j: sums of x_a e, and of cov(x_a, w'x) where a was imputed
  double u;                        // coefficient of x_a in the regression of x_j with which the rows were weighted
  double partial_n, partial_xa;    // sums of 1 and (x_j - u'x) x_a, weighted by the share of x_j that is its own
};

struct Row { double y, weight; Index regime, begin, size; };  // its values are value[begin : begin + size]
struct Value { Index j; double x; };

struct Column { Index j; double w, x_bar, sd, partial_variance, recent_shift; };  // recent_shift: of w, by the last rows
struct FitLabel { double y_bar, explained; };                                   // explained = w' C w

struct Scalars {
  double row_weight, sum_weight, sum_y, sum_yy;      // weight of a new row; sums of weights, y, y^2
  double y_mean, y_var, y_low, y_high, y_ref, y_unit;
  double s2, prediction_mse;                         // residual variance; running mean squared prediction error
  Index n_labels, n_past_rows;                       // labels, and how many of them are past rows, which nobody asked for
  double slope_fy, slope_ff, alpha;                  // calibration slope alpha of y on past predictions f, and its sums
  Index memory_start;                                // when the rows that still count began
  double label_tolerance;                            // label guard: how far from its prediction a label may be
  double level_reported, level_deviation2; Index level_rows_away;  // level tracker
  double lagged_xx, lagged_xz;                       //   sums of x^2 and x z, z: the same attribute one row before
  double recent_n, recent_f, recent_y, recent_ff, recent_fy, recent_loss;  // drift detector: the last rows
  double baseline_n, baseline_f, baseline_y, baseline_ff, baseline_fy, baseline_loss;  // all rows of this support
  double recent_mse, cusum, cusum_recalibrated, cusum_weights;
  Index n_alarms;
  Index regime, previous_regime; double previous_row_weight;  // regimes; previous_row_weight > 0: one has just ended
  Index regime_on_trial, trial_start; double trial_evidence;  //   1 + the index of the stored regime on trial, or 0
  Index refit_regime;                                         //   1 + the stored regime whose members the refit starts with
  double past_s2, past_evidence; Index past_until;   // past rows: residual variance in them, and whether they still hold
  Index m, n_members, n_support_changes;             // columns of the fit, member sources that are not free
  Index reweighted_support, reweighted_at; double reweighted_s2;  // n_support_changes, labels, s2 at the last reweighting
  Index n_candidate_rows;                                         // rows since then that show a candidate
  Index refit_at, score_at, pair_search_at;          // labels at which to refit, to score, to look for pairs
  Index queue_size, queue_next; double displacement_credit;  // exploration in the place of a member
  double shrinkage, expected_effect;                 // prior rows of a correlation; what a relevant source explains
  Index oldest, n_rows, head;                        // ring of stored rows, and of their values
  Index n_asked;
  double spent, spent_remainder;                     // money: a compensated sum
  double member_account, look_account;               //   saved up for members and for looks under a total budget
  double rate;                                       //   per unit of squared error; infinite: prices need not be earned
  Index columns_needed;                              // > 0: the support needs room for so many columns
};

// A change that was noticed; past: 1 if `row` counts past rows. slope_...: of labels on predictions. returned: the row
// until which the regime held that holds again, < 0: a past row, 0: none.
struct Alarm { Index row, past; double level, slope_before, slope_after, forgotten; Index returned; };
struct LevelExpert { double level, gain, weight; };
struct StoredRegime { Index regime, ended_at, ended_row; double row_weight, s2; Index n_members, tried; };

struct Settings {
  Index k, k0, expected_relevant;
  double budget_per_row;         // infinite where k + k0 sources at their usual prices never exceed it
  double error_cost, total_budget, expected_rows, decay;
  double stated_budget_per_row;  // as the user gave it
};

// Least squares on the m columns of the fit: views of matrices that have room for `width` columns.
struct Fit {
  std::span<Column> column;
  FitLabel* label;
  double* gram;     // weighted sums of products of (x, 1, y), stride width + 2
  double* hidden;   // sum of weight cov(x_B | rest) over the rows in which the columns B were imputed
  double *V, *P, *C;
  Index width;
  double& g(Index i, Index e) const { return gram[i * (width + 2) + e]; }
  double& hid(Index i, Index e) const { return hidden[i * width + e]; }
  double& v(Index i, Index e) const { return V[i * width + e]; }
  double& p(Index i, Index e) const { return P[i * width + e]; }
  double& cov(Index i, Index e) const { return C[i * width + e]; }
};

// The whole state: views of the arrays that Python holds, and scratch memory that means nothing between calls.
struct State {
  std::span<Attribute> attr;
  std::span<Source> source;
  std::span<Index> source_attributes;      // the attributes, ordered by source
  std::span<Index> order;                  // the sources that are not free: by price, then in an order drawn by the seed
  std::span<Index> queue;                  // candidates that may displace a member, the best first
  std::span<double> partial_products;      // per source: weighted products of what its attributes have of their own
  std::span<Pair> pairs;
  std::span<Row> row;
  std::span<Value> value;
  Fit fit, trial_fit;                      // the support's; and one with other columns, before they become the support
  std::span<double> log_q, centre, level;  // interval calibrator
  std::span<LevelExpert> level_expert;
  std::span<Alarm> alarm;
  std::span<StoredRegime> stored_regime;
  std::span<double> prior;                 // probabilities of the spike and the slabs (posterior.hpp)
  std::span<Index> stored_regime_members;  // (stored regimes, sources)
  Scalars* scalars_;
  const Settings* settings_;
  const Constants* constants_;
  mutable Index learning = 0;              // 1: past rows are being learnt
  Index width, store_full;                 // columns there is room for; bit 0 (1): rows (values) cannot grow

  Scalars& scalars() const { return *scalars_; }
  const Settings& settings() const { return *settings_; }
  const Constants& constants() const { return *constants_; }
  Pair* pair(Index j) const { return pairs.data() + j * width; }
  double rows() const { return scalars_->sum_weight / scalars_->row_weight; }
  // Returns the number of the row that was learnt last; past rows and rounds are counted apart.
  Index last_row() const { return learning ? scalars_->n_past_rows : scalars_->n_labels - scalars_->n_past_rows; }
  // Returns the place of the i-th oldest stored row in the ring.
  Index stored_row(Index i) const {
    const Index t = scalars_->oldest + i, size = static_cast<Index>(row.size());
    return t >= size ? t - size : t;
  }
  void add_alarm(const Alarm& noticed) const {
    alarm[static_cast<std::size_t>(scalars_->n_alarms) % alarm.size()] = noticed;
    scalars_->n_alarms += 1;
  }

  struct Scratch {
    std::vector<double> deviation;           // x - x_bar of the columns in the row at hand
    std::vector<Index> observed, missing;    // 1 where that row shows a column; the columns that it lacks
    std::vector<double> missing_covariance;  // covariance of the missing columns given the observed ones
    std::vector<double> joint_cov, shrunk_cov, trust, cov_variance;  // of a candidate and each column (evidence.cpp)
    std::vector<double> partial;             // x_j - u'x of the attributes of one source
    std::vector<double> missing_precision, missing_rhs;  // P_BB of those columns, and -P_BA deviation_A
    std::vector<double> product, workspace, u, values, usual_price;
    std::vector<Index> taken, items, basket;
  };
  mutable Scratch scratch;
};

struct Field { const char* name; std::size_t offset; bool integer; };
struct Layout { const char* name; std::size_t size; std::vector<Field> fields; };
std::vector<Layout> layouts();

}  // namespace keyhole::thrifty

