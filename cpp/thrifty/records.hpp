// The state of thrifty: records that Python allocates as numpy structured arrays, sees, saves and checks.
//
// Attributes are numbered j, sources s, columns of the fit a and e, stored rows t. A source brings one or more
// attributes. Sums over rows are weighted; the weight of a new row is now.row_weight, so that sum / row_weight counts
// rows. Values and labels are kept as (x - ref) / unit, where the unit is a power of two and loses no digit.
// Every field takes eight bytes; `fields` below names them, and Python builds its dtypes from that.
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
  Index source, slot;              // its source, and which of that source's attributes it is
  Index place;                     // its column in the fit, or -1
  double n, x;                     // sums of 1, x over the stored rows that show it while it is no member
  double h, e, xe;                 //   of 1, e, x e, weighted by what each row says of it (evidence.hpp)
  double c, r, se;                 // beside the support: own variance, covariance with the residual, se of r
  double xx; Index rows;           // sum of x^2, and the number of those rows
  Index mark;                      // scratch of a fit, else -1
  double ref, unit;                // unit 0: it has shown one value only
  Index observed;
  double raw_n, raw_x, raw_xx;     // sums of 1, x, x^2 over all its values
  double far, genuine, limit;      // outlier clip
  Index absurd;
};

struct Source {                      // first what every row reads
  double price;                    // money, for the row that is asked next
  Index member, determined;        // 1: in the support; 1: says nothing that the support does not
  Index asked, observed;           // rounds that bought it; rows that showed any of it
  double ratio;                    // likelihood that it matters over that it does not
  double value;                    // > 0: what a look is worth beyond its cost
  double matters;                  // where a price must be earned: the probability that it explains anything
  Index first, size;               // its attributes are listed[first : first + size]
  Index within;                    // products of its own parts are within[within : within + size^2]
  Index always;                    // 1: free, always bought
  Index scored, failed;            // `asked` when it was last scored, failed to join
  Index left;                      // labels when it last had to leave
  double join_at, leave_at;        // evidence above which it joins, below which it leaves
  double gain;                     // > 0: what it adds if it joins now
  Index displaced;                 // the member source whose place a look takes; -1: none
  Index proxy;                     // the member source that may only stand in for it; -1: none
  double odds;                     // how much likelier that is than not
  Index determined_at, released;   // labels when it was found to be determined, `asked` when last released
  double z2, adds;                 // its evidence and what it explains
};

struct Pair {                        // pair[j, a]: over the rows that show attribute j and column a of the fit
  double n, x_j, x_a, x_jj, x_aa, x_ja;
  double x_ae, pull;               // over all rows of j: sums of x_a e, and of cov(x_a, w'x) where they lack members
  double u;                        // coefficient of x_a in the regression of x_j by which the rows were weighed
  double own_n, own_xa;            // sums of 1, (x_j - u'x) x_a, weighted by how much of x_j is its own
};

struct Row { double y, weight; Index regime, begin, size; };
struct Value { Index j; double x; };

struct Column { Index j; double w, x_bar, sd, cond, bend; };
struct FitLabel { double y_bar, explained; };

struct Sums { double n, f, y, ff, fy, loss; };

struct Now {
  double row_weight, n, y, yy;                       // weight of the present; sums of weights, y, y^2
  double y_mean, y_var, y_low, y_high, y_ref, y_unit;
  double s2, error2;                                 // residual variance; running mean squared prediction error
  Index n_labels, n_past;                            // of them past rows, which nobody asked for
  double fy, ff, alpha;                              // calibration slope of y on past predictions f
  Index epoch;                                       // labels when what is remembered began
  double label_reach;                                // label guard: tolerance for far labels
  double level_reported, level_strayed; Index level_aside;      // level tracker
  double recent_n, recent_f, recent_y, recent_ff, recent_fy, recent_loss;  // drift detector: last rows
  double past_n, past_f, past_y, past_ff, past_fy, past_loss;              //   rows since the support changed
  double recent_error2, cusum, cusum_recalibrated, cusum_weights;
  Index n_alarms;
  Index regime, regime_left; double regime_ended;    // regimes
  Index trial, trial_at; double trial_evidence; Index refit_sources;
  double past_s2, past_evidence; Index past_until;   // do past rows still hold? what was left unexplained in them
  Index m, n_members, moves;                         // columns of the fit, member sources, changes of the support
  Index heard, heard_at; double heard_s2; Index news;            // when rows were last reweighted
  Index refit_at, score_at, joint_at;                // labels at which to refit, score, look for pairs
  Index queued, turn; double lend;                   // exploration in place of a member
  double shrinkage, expects;                         // evidence: trust in few joint rows; size of what matters
  Index oldest, n_rows, head;                        // ring of stored rows and of their values
  Index n_asked;
  double spent, spent_low;                           // money: a compensated sum
  double member_account, look_account;               //   saved up for members and for looks, where a total limits
  double rate;                                       //   per unit of squared error; infinite: it need not be earned
  Index wants_columns;                               // > 0: the support needs room for so many columns
};

struct Alarm { Index row, past; double level, slope_before, slope_after, forgotten; Index returned; };  // past: in a past row
struct Account { double c, gain, belief; };
struct Kept { Index regime, ended; double row_weight, s2; Index n, tried; };

struct Given {
  Index k, k0, k_prior;
  double budget_per_row, error_cost, total_budget, expected_rows, decay, label_center;
};

// Least squares on the m columns of the fit.
struct Fit {
  std::span<Column> column;
  FitLabel* label;
  double *gram, *hidden, *V, *P, *C;                 // stride `width` (gram: width + 2)
  Index width;
  double& g(Index i, Index e) const { return gram[i * (width + 2) + e]; }
  double& hid(Index i, Index e) const { return hidden[i * width + e]; }
  double& v(Index i, Index e) const { return V[i * width + e]; }
  double& p(Index i, Index e) const { return P[i * width + e]; }
  double& cov(Index i, Index e) const { return C[i * width + e]; }
};

// What a kernel works on: views of the arrays that Python holds, and scratch that means nothing between calls.
struct State {
  std::span<Attribute> attr;
  std::span<Source> source;
  std::span<Index> listed, order, queue;             // attributes by source; sources in seeded order; to be explored
  std::span<double> within;
  std::span<Pair> pairs;
  std::span<Row> row;
  std::span<Value> value;
  Fit fit, trial;
  std::span<double> log_q, centre, level;            // interval calibrator
  std::span<Account> account;
  std::span<Alarm> alarm;
  std::span<Kept> kept;
  std::span<double> prior;                           // spike and slabs of what a source explains (posterior.hpp)
  std::span<Index> kept_sources;                     // (kept, sources)
  Now* now_;
  const Given* given_;
  const Constants* constants_;
  mutable Index learning = 0;                         // 1: past rows are being learnt
  Index width, store_full;                            // columns there is room for; bit 0 (1): rows (values) cannot grow

  Now& now() const { return *now_; }
  const Given& given() const { return *given_; }
  const Constants& K() const { return *constants_; }
  Pair* pair(Index j) const { return pairs.data() + j * width; }
  double rows() const { return now_->n / now_->row_weight; }

  struct Scratch {
    std::vector<double> v, row, pull, block, inverse, joined, q, u, losses, r, V, best, usual_price;
    std::vector<Index> seen, lost, taken, stay, basket;
  };
  mutable Scratch scratch;
};

struct Field { const char* name; std::size_t offset; bool integer; };
struct Layout { const char* name; std::size_t size; std::vector<Field> fields; };
std::vector<Layout> layouts();

}  // namespace keyhole::thrifty
