#include "bindings/areas.hpp"
#include "bindings/arrays.hpp"
#include "peers/bandits.hpp"
#include "peers/dual_averaging.hpp"
#include "peers/full_information.hpp"
#include "peers/gibbs.hpp"
#include "peers/moments.hpp"
#include "peers/pursuit.hpp"

namespace keyhole::bindings {

namespace {

using linalg::Index;

// The GIL is released in every call that plays many rounds; a numpy array cannot go away, for the caller holds it.

bool is_square(const auto& a, std::size_t d) { return a.shape(0) == d && a.shape(1) == d; }

void require_rows(const ConstMatrix& X, const ConstVector& y, const Vector& y_hat, std::size_t d) {
  require(X.shape(1) == d && X.shape(0) == y.shape(0) && y_hat.shape(0) == y.shape(0), "X, y and y_hat do not fit");
}

void require_below(const ConstIndices& B, std::size_t d) {
  for (const auto i : span(B)) require(i >= 0 && static_cast<std::size_t>(i) < d, "an index is out of range");
}

void vaw_epoch(const Matrix& A_inv, const Vector& b, const ConstMatrix& X, const ConstVector& y, const Vector& y_hat) {
  require(is_square(A_inv, b.shape(0)), "A_inv does not fit b");
  require_rows(X, y, y_hat, b.shape(0));
  nb::gil_scoped_release release;
  peers::vaw_epoch(matrix(A_inv), span(b), matrix(X), span(y), span(y_hat));
}

void rda_epoch(const Vector& w, const Vector& g_bar, const Vector& tally, const Vector& errors, const ConstMatrix& X,
               const ConstVector& y, const ConstIndices& group, const ConstIndices& group_size, double gamma, double lam,
               double rho, bool practical, const Vector& y_hat) {
  const std::size_t d = w.shape(0);
  require(g_bar.shape(0) == d && group.shape(0) == d && tally.shape(0) == 3 && errors.shape(0) == 3,
          "the arrays do not fit together");
  require_below(group, group_size.shape(0));
  require_rows(X, y, y_hat, d);
  nb::gil_scoped_release release;
  peers::rda_epoch({span(w), span(g_bar), span(tally), span(errors), span(group), span(group_size), gamma, lam, rho,
                    practical},
                   matrix(X), span(y), span(y_hat));
}

Index olin_lasso_epoch(const Vector& theta, const Matrix& XX, const Vector& Xy, const Matrix& G0, const Vector& tally,
                       Index n, const ConstMatrix& X, const ConstVector& y, Index n0, double scale,
                       const Vector& y_hat) {
  const std::size_t d = theta.shape(0);
  require(is_square(XX, d) && is_square(G0, d) && Xy.shape(0) == d && tally.shape(0) == 2, "the sums do not fit theta");
  require_rows(X, y, y_hat, d);
  nb::gil_scoped_release release;
  return peers::olin_lasso_epoch(span(theta), {matrix(XX), span(Xy), span(tally)}, matrix(G0), n, matrix(X), span(y), n0,
                                 scale, span(y_hat));
}

Index ilamm_epoch(const Vector& beta, const Matrix& XX, const Vector& Xy, const Vector& tally, Index n,
                  const ConstMatrix& X, const ConstVector& y, double scale, double share, bool mcp,
                  const Vector& y_hat) {
  const std::size_t d = beta.shape(0);
  require(is_square(XX, d) && Xy.shape(0) == d && tally.shape(0) == 2, "the sums do not fit beta");
  require_rows(X, y, y_hat, d);
  nb::gil_scoped_release release;
  return peers::ilamm_epoch(span(beta), {matrix(XX), span(Xy), span(tally)}, n, matrix(X), span(y), scale, share, mcp,
                            span(y_hat));
}

void lasso(const ConstMatrix& G, const ConstVector& c, double lam, const Vector& v, double tolerance, Index sweeps) {
  const std::size_t d = v.shape(0);
  require(is_square(G, d) && c.shape(0) == d, "G, c and v do not fit together");
  nb::gil_scoped_release release;
  peers::lasso(matrix(G), span(c), lam, span(v), tolerance, sweeps);
}

void fit_ilamm(const ConstMatrix& G, const ConstVector& b, double lam, bool mcp, double tolerance, const Vector& beta) {
  const std::size_t d = beta.shape(0);
  require(is_square(G, d) && b.shape(0) == d, "G, b and beta do not fit together");
  nb::gil_scoped_release release;
  peers::fit_ilamm(matrix(G), span(b), lam, mcp, tolerance, span(beta));
}

void tsallis_law(const ConstVector& L, double eta, const Vector& p) {
  require(L.shape(0) == p.shape(0) && L.shape(0) > 0, "L and p have different lengths");
  nb::gil_scoped_release release;
  peers::tsallis_law(span(L), eta, span(p));
}

void log_barrier_step(const ConstVector& p, const ConstVector& loss, const ConstVector& eta, const Vector& next) {
  const std::size_t n = p.shape(0);
  require(n > 0 && loss.shape(0) == n && eta.shape(0) == n && next.shape(0) == n, "the lengths differ");
  nb::gil_scoped_release release;
  peers::log_barrier_step(span(p), span(loss), span(eta), span(next));
}

void hedge_step(const Array2<const Index>& U, const Matrix& W, const Vector& L, const Vector& G, const ConstMatrix& h,
                const ConstVector& z, double eta, bool adaptive, double R) {
  const std::size_t n = U.shape(0);
  require(W.shape(0) == n && W.shape(1) == U.shape(1) && L.shape(0) == n && G.shape(0) == n && is_square(h, z.shape(0)),
          "the arrays of the hedge do not fit together");
  nb::gil_scoped_release release;
  peers::hedge_step({matrix(U), matrix(W), span(L), span(G)}, matrix(h), span(z), eta, adaptive, R);
}

void dual_averaging_epoch(const Vector& h, const Vector& tally, const ConstIndices& S, const ConstMatrix& X,
                          const ConstVector& y, double rate, bool adaptive, double R, const Vector& y_hat) {
  require(tally.shape(0) == 2, "tally must have two entries");
  require_below(S, h.shape(0));
  require_rows(X, y, y_hat, S.shape(0));
  nb::gil_scoped_release release;
  peers::dual_averaging_epoch(span(h), span(tally), span(S), matrix(X), span(y), rate, adaptive, R, span(y_hat));
}

void standardise(const Matrix& columns, const ConstMatrix& X, const ConstVector& y, const Matrix& Z,
                 const Vector& labels, const Vector& centre, const Vector& width) {
  const std::size_t n = y.shape(0);
  require(X.shape(0) == n && Z.shape(0) == n && Z.shape(1) == X.shape(1) && columns.shape(0) == X.shape(1) + 1 &&
              labels.shape(0) == n && centre.shape(0) == n && width.shape(0) == n,
          "the arrays do not fit together");
  const auto columns_ = records<peers::Column>(columns);
  nb::gil_scoped_release release;
  peers::standardise(columns_, matrix(X), span(y), matrix(Z), span(labels), span(centre), span(width));
}

peers::PairwiseSums pairwise_sums(const Matrix& attributes, const Vector& first, const Array3<double>& pairs,
                                  const Matrix& label) {
  const std::size_t d = attributes.shape(0);
  require(first.shape(0) == d && pairs.shape(0) == d && pairs.shape(1) == d && pairs.shape(2) == 3 &&
              label.shape(0) == 1,
          "the sums do not fit together");
  const auto n = static_cast<Index>(d);
  return {records<peers::AttributeSums>(attributes),
          span(first),
          {reinterpret_cast<peers::PairSums*>(pairs.data()), n, n},
          records<peers::LabelSums>(label)[0]};
}

void add_pairwise(const Matrix& attributes, const Vector& first, const Array3<double>& pairs, const Matrix& label,
                  const ConstIndices& B, const ConstVector& x, double y) {
  require(B.shape(0) == x.shape(0), "B and x do not fit together");
  require_below(B, attributes.shape(0));
  peers::add_pairwise(pairwise_sums(attributes, first, pairs, label), span(B), span(x), y);
}

void fit_pairwise(const Matrix& attributes, const Vector& first, const Array3<double>& pairs, const Matrix& label,
                  const Vector& mu, const Vector& sd, const Matrix& R, const Vector& c) {
  const std::size_t d = attributes.shape(0);
  require(mu.shape(0) == d && sd.shape(0) == d && c.shape(0) == d && is_square(R, d), "the moments do not fit the sums");
  const auto sums = pairwise_sums(attributes, first, pairs, label);
  nb::gil_scoped_release release;
  peers::fit_pairwise(sums, span(mu), span(sd), matrix(R), span(c));
}

auto prior_slopes(const ConstMatrix& sums, const ConstVector& prior, const ConstVector& variance) {
  require(is_square(sums, prior.shape(0) + 2) && variance.shape(0) == prior.shape(0), "sums, prior and variance differ");
  return to_numpy(peers::prior_slopes(matrix(sums), span(prior), span(variance)));
}

auto matching_pursuit(const ConstMatrix& R, const ConstVector& c, Index k, double stop) {
  require(is_square(R, c.shape(0)), "R does not fit c");
  std::vector<Index> S;
  {
    nb::gil_scoped_release release;
    S = peers::matching_pursuit(matrix(R), span(c), k, stop);
  }
  return to_numpy(S);
}

nb::tuple fill_in(const ConstMatrix& R, const ConstVector& c, const ConstIndices& B, const ConstVector& z) {
  require(is_square(R, c.shape(0)) && z.shape(0) == B.shape(0), "R, c, B and z do not fit together");
  require_below(B, c.shape(0));
  const peers::FilledRow row = peers::fill_in(matrix(R), span(c), span(B), span(z));
  return nb::make_tuple(to_numpy(row.a), row.f, row.explained);
}

peers::Posterior posterior(const Matrix& G, const Vector& b, const Vector& g, const Vector& w) {
  const std::size_t d = b.shape(0);
  require(is_square(G, d) && g.shape(0) == d && w.shape(0) == d, "G, b, g and w do not fit together");
  return {matrix(G), span(b), span(g), span(w)};
}

void learn_row(const ConstMatrix& R, const Matrix& G, const Vector& b, const Vector& g, const Vector& w,
               const ConstIndices& B, const ConstVector& a, double r, double weight) {
  require(is_square(R, b.shape(0)) && a.shape(0) == B.shape(0), "R, B and a do not fit b");
  require_below(B, b.shape(0));
  const auto state = posterior(G, b, g, w);
  nb::gil_scoped_release release;
  peers::learn_row(matrix(R), state, span(B), span(a), r, weight);
}

nb::tuple normal_equations(const ConstMatrix& R, const Array2<const Index>& bought, const ConstMatrix& Z,
                           const ConstVector& r, const ConstVector& w_bar, double S2, const Matrix& G, const Vector& b) {
  const std::size_t d = b.shape(0);
  require(is_square(R, d) && is_square(G, d) && w_bar.shape(0) == d, "R, G and w_bar do not fit b");
  require(bought.shape(0) == r.shape(0) && Z.shape(0) == r.shape(0) && Z.shape(1) == bought.shape(1),
          "bought, Z and r do not fit together");
  const auto places = matrix(bought);
  for (Index i = 0; i < places.rows * places.cols; ++i) {
    require(places.data[i] < static_cast<Index>(d), "a place is out of range");
  }
  peers::NoiseSums noise;
  {
    nb::gil_scoped_release release;
    noise = peers::normal_equations(matrix(R), places, matrix(Z), span(r), span(w_bar), S2, matrix(G), span(b));
  }
  return nb::make_tuple(noise.numerator, noise.denominator);
}

void acquisition_scores(const Matrix& G, const Vector& b, const Vector& g, const Vector& w, double tau,
                        const ConstVector& normal, const Vector& score) {
  require(normal.shape(0) == b.shape(0) && score.shape(0) == b.shape(0), "normal and score do not fit b");
  peers::acquisition_scores(posterior(G, b, g, w), tau, span(normal), span(score));
}

void gibbs_sweep(const Matrix& G, const Vector& b, const Vector& g, const Vector& w, const ConstVector& seen, double tau,
                 double odds, const ConstVector& uniform, const ConstVector& normal, const Vector& mean) {
  const std::size_t d = b.shape(0);
  require(seen.shape(0) == d && mean.shape(0) == d && uniform.shape(0) == 3 * d && normal.shape(0) == 2 * d,
          "seen, uniform, normal and mean do not fit b");
  const auto state = posterior(G, b, g, w);
  nb::gil_scoped_release release;
  peers::gibbs_sweep(state, span(seen), tau, odds, span(uniform), span(normal), span(mean));
}

}  // namespace

void bind_peers(nb::module_& m) {
  m.def("vaw_epoch", &vaw_epoch, array("A_inv"), array("b"), array("X"), array("y"), array("y_hat"),
        "Rounds of the Vovk-Azoury-Warmuth forecaster, in place.");
  m.def("rda_epoch", &rda_epoch, array("w"), array("g_bar"), array("tally"), array("errors"), array("X"), array("y"),
        array("group"), array("group_size"), nb::arg("gamma"), nb::arg("lam"), nb::arg("rho"), nb::arg("practical"),
        array("y_hat"), "Rounds of regularised dual averaging, in place.");
  m.def("olin_lasso_epoch", &olin_lasso_epoch, array("theta"), array("XX"), array("Xy"), array("G0"), array("tally"),
        nb::arg("n"), array("X"), array("y"), nb::arg("n0"), nb::arg("scale"), array("y_hat"),
        "Rounds of the online linearised LASSO, in place; the rounds learnt from.");
  m.def("ilamm_epoch", &ilamm_epoch, array("beta"), array("XX"), array("Xy"), array("tally"), nb::arg("n"), array("X"),
        array("y"), nb::arg("scale"), nb::arg("share"), nb::arg("mcp"), array("y_hat"),
        "Rounds of I-LAMM, in place; the rounds learnt from.");
  m.def("lasso", &lasso, array("G"), array("c"), nb::arg("lam"), array("v"), nb::arg("tolerance"), nb::arg("sweeps"),
        "v <- argmin v'Gv/2 - c'v + lam |v|_1 by coordinate descent, in place.");
  m.def("fit_ilamm", &fit_ilamm, array("G"), array("b"), nb::arg("lam"), nb::arg("mcp"), nb::arg("tolerance"),
        array("beta"), "Folded-concave least squares: contraction, then tightening.");
  m.def("tsallis_law", &tsallis_law, array("L"), nb::arg("eta"), array("p"), "The 1/2-Tsallis regularised leader.");
  m.def("log_barrier_step", &log_barrier_step, array("p"), array("loss"), array("eta"), array("next"),
        "One step of log-barrier mirror descent.");
  m.def("hedge_step", &hedge_step, array("U"), array("W"), array("L"), array("G"), array("h"), array("z"),
        nb::arg("eta"), nb::arg("adaptive"), nb::arg("R"), "Losses and gradient steps of all supports, in place.");
  m.def("dual_averaging_epoch", &dual_averaging_epoch, array("h"), array("tally"), array("S"), array("X"), array("y"),
        nb::arg("rate"), nb::arg("adaptive"), nb::arg("R"), array("y_hat"), "Rounds of dual averaging on S, in place.");
  m.def("standardise", &standardise, array("columns"), array("X"), array("y"), array("Z"), array("labels"),
        array("centre"), array("width"), "Standardise rows by what was seen before them, in place.");
  m.def("add_pairwise", &add_pairwise, array("attributes"), array("first"), array("pairs"), array("label"), array("B"),
        array("x"), nb::arg("y"), "Add a row that saw x on B to the sums.");
  m.def("fit_pairwise", &fit_pairwise, array("attributes"), array("first"), array("pairs"), array("label"), array("mu"),
        array("sd"), array("R"), array("c"), "Means, deviations, shrunk correlations and covariances from the sums.");
  m.def("prior_slopes", &prior_slopes, array("sums"), array("prior"), array("variance"),
        "Least squares with intercept, drawn to the prior as if by two rows more.");
  m.def("matching_pursuit", &matching_pursuit, array("R"), array("c"), nb::arg("k"), nb::arg("stop"),
        "Orthogonal matching pursuit on moments.");
  m.def("fill_in", &fill_in, array("R"), array("c"), array("B"), array("z"),
        "(R_BB^-1 z_B, the fitted value, what B explains).");
  m.def("learn_row", &learn_row, array("R"), array("G"), array("b"), array("g"), array("w"), array("B"), array("a"),
        nb::arg("r"), nb::arg("weight"), "One filled-in row joins the normal equations.");
  m.def("normal_equations", &normal_equations, array("R"), array("bought"), array("Z"), array("r"), array("w_bar"),
        nb::arg("S2"), array("G"), array("b"), "All rows anew; (weighted noise, sum of the weights).");
  m.def("acquisition_scores", &acquisition_scores, array("G"), array("b"), array("g"), array("w"), nb::arg("tau"),
        array("normal"), array("score"), "How much each attribute is wanted.");
  m.def("gibbs_sweep", &gibbs_sweep, array("G"), array("b"), array("g"), array("w"), array("seen"), nb::arg("tau"),
        nb::arg("odds"), array("uniform"), array("normal"), array("mean"), "One Gibbs sweep, in place.");
}

}  // namespace keyhole::bindings
