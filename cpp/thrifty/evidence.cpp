#include "thrifty/evidence.hpp"

namespace keyhole::thrifty {

namespace {

// Sweeps in which the columns' correlations say what few joint rows do not; rows and prior of the shrinkage.
constexpr int sweeps = 3;
constexpr double most_rows = 200.0, prior_rows = 50.0, prior_square = 1.0 / 8.0, least_square = 1e-3;
// An expected |z| beyond this tells no more.
constexpr double certain = 25.0;

double& own_square(const State& state, Index j) {
  const Attribute& me = state.attr[j];
  const Source& of = state.source[me.source];
  return state.within[of.within + me.slot * of.size + me.slot];
}

Index row_index(const State& state, Index i) {
  const Index t = state.now().oldest + i, size = static_cast<Index>(state.row.size());
  return t >= size ? t - size : t;
}

// The columns' deviations in a stored row as far as it shows them: how many it lacks; -1 where it shows only members.
Index missing(const State& state, const Row& row) {
  State::Scratch& s = state.scratch;
  const Index m = state.now().m;
  Index lacking = m;
  bool others = false;
  for (Index a = 0; a < m; ++a) {
    s.v[a] = 0.0;
    s.seen[a] = 0;
  }
  for (Index p = row.begin; p < row.begin + row.size; ++p) {
    const Value& value = state.value[p];
    const Index a = state.attr[value.j].place;
    if (a >= 0) {
      s.v[a] = value.x - state.fit.column[a].x_bar;
      s.seen[a] = 1;
      --lacking;
    } else {
      others = true;
    }
  }
  return others ? lacking : -1;
}

bool lacks_the_same(const State& state, Index lacking, Index before) {
  if (lacking != before) return false;
  for (Index b = 0; b < lacking; ++b) {
    if (state.scratch.seen[state.scratch.lost[b]]) return false;
  }
  return true;
}

// c / (c + u_B' C u_B): how much of what j shows in a row that lacks B is its own.
double own_part(const State& state, Index j, const Pair* pair, Index lacking) {
  const State::Scratch& s = state.scratch;
  const Index* lost = s.lost.data();
  const double* C = s.inverse.data();
  double shared = 0.0;
  for (Index b = 0; b < lacking; ++b, C += lacking) {
    const double u = pair[lost[b]].u;
    if (u == 0.0) continue;
    for (Index e = 0; e < lacking; ++e) shared += u * pair[lost[e]].u * C[e];
  }
  const double c = state.attr[j].c;
  return shared > 0.0 && c > 0.0 ? c / (c + shared) : 1.0;
}

// What a row says of the attributes value[begin : end] of one source; `quiet`: how little noise is in e.
void hear(const State& state, Index begin, Index end, double e, double weight, double quiet, Index lacking) {
  State::Scratch& s = state.scratch;
  const Index m = state.now().m, *seen = s.seen.data(), *lost = s.lost.data();
  const double *v = s.v.data(), *pull = s.row.data();
  double own = 1.0;
  for (Index p = begin; p < end; ++p) {
    const Index j = state.value[p].j;
    own = std::min(own, own_part(state, j, state.pair(j), lacking));
  }
  weight *= own;
  const Source& of = state.source[state.attr[state.value[begin].j].source];
  s.r.resize(static_cast<std::size_t>(end - begin));
  for (Index p = begin; p < end; ++p) {
    const Value& value = state.value[p];
    Attribute& me = state.attr[value.j];
    Pair* pair = state.pair(value.j);
    double left = value.x - me.x / me.n;
    for (Index a = 0; a < m; ++a) left -= pair[a].u * v[a];
    s.r[p - begin] = left;
    for (Index l = begin; l <= p; ++l) {
      const Index other = state.attr[state.value[l].j].slot;
      const double product = weight * left * s.r[l - begin];
      state.within[of.within + me.slot * of.size + other] += product;
      if (l < p) state.within[of.within + other * of.size + me.slot] += product;
    }
    const double loud = weight * quiet, weighted = weight * left, noise = loud * e;
    me.h += loud;
    me.e += noise;
    me.xe += loud * value.x * e;
    for (Index a = 0; a < m; ++a) {
      if (seen[a]) {
        pair[a].own_n += weight;
        pair[a].own_xa += weighted * v[a];
      }
      pair[a].x_ae += loud * v[a] * e;
    }
    for (Index b = 0; b < lacking; ++b) pair[lost[b]].pull += loud * pull[b];
  }
}

// A stored row into what is heard of the attributes it shows outside the support. How many columns it lacks: `before`
// of the next row, which mostly lacks the same; -1 of the first.
Index weigh(const State& state, Index t, Index before) {
  const Now& now = state.now();
  const Row& row = state.row[t];
  const Index lacking = missing(state, row);
  if (lacking < 0 || row.weight <= 0.0) return before;
  if (!lacks_the_same(state, lacking, before)) condition(state, state.fit, now.m);
  expect(state, state.fit, now.m, lacking);
  double e = row.y - (now.m > 0 ? state.fit.label->y_bar : now.y_mean);
  for (Index a = 0; a < now.m; ++a) e -= state.fit.column[a].w * state.scratch.v[a];
  const double spread = hidden_noise(state, lacking), quiet = now.s2 > 0.0 ? now.s2 / (now.s2 + spread) : 1.0;
  for (Index p = row.begin; p < row.begin + row.size;) {
    const Index s = state.attr[state.value[p].j].source;
    Index end = p + 1;
    while (end < row.begin + row.size && state.attr[state.value[end].j].source == s) ++end;
    if (state.attr[state.value[p].j].place < 0) hear(state, p, end, e, row.weight, quiet, lacking);
    p = end;
  }
  return lacking;
}

void unheard(const State& state, Index j) {
  Attribute& me = state.attr[j];
  me.h = me.e = me.xe = 0.0;
  const Source& of = state.source[me.source];
  for (Index i = 0; i < of.size; ++i) state.within[of.within + me.slot * of.size + i] = 0.0;
  Pair* pair = state.pair(j);
  for (Index a = 0; a < state.width; ++a) pair[a].x_ae = pair[a].pull = pair[a].own_n = pair[a].own_xa = 0.0;
}

// Of x_j and x_a over the rows that show both: of copies it is nearly exact.
double correlation(const Pair& pair, double most) {
  const double x_j = pair.x_j / pair.n, x_a = pair.x_a / pair.n;
  const double v_j = pair.x_jj / pair.n - x_j * x_j, v_a = pair.x_aa / pair.n - x_a * x_a;
  if (v_j <= 1e-12 * x_j * x_j || v_a <= 1e-12 * x_a * x_a) return 0.0;
  return std::clamp((pair.x_ja / pair.n - x_j * x_a) / std::sqrt(v_j * v_a), -most, most);
}

// Variance of a candidate over the rows that show it; 0 while it looks constant.
double spread_of(const Attribute& me) {
  const double mean = me.x / me.n, square = me.xx / me.n, variance = square - mean * mean;
  return variance > 1e-13 * square ? variance : 0.0;
}

// The variance of x_j - u'x in the rows as they were weighed; 0 where u = 0 then.
double own_variance(const State& state, Index j, double v) {
  const Pair* pair = state.pair(j);
  for (Index a = 0; a < state.now().m; ++a) {
    if (pair[a].u != 0.0) return std::min(v, std::max(own_square(state, j) / state.attr[j].n, 1e-9 * v));
  }
  return 0.0;
}

// Rows 0 to 3 of scratch.q: q_j as the joint rows show it, the same unshrunk, how far each is trusted, its variance.
void observe(const State& state, Index j, double v, double own) {
  const Now& now = state.now();
  const Fit& fit = state.fit;
  const Pair* pair = state.pair(j);
  const Index w = state.width;
  double *q = state.scratch.q.data(), *seen = q + w, *trust = q + 2 * w, *doubt = q + 3 * w;
  const double g = now.row_weight, s = now.shrinkage, log_s = 2.0 * std::log(s), sd = std::sqrt(v);
  double least = 1.0, next_least = 1.0;
  Index nearest = -1;
  for (Index a = 0; a < now.m; ++a) {
    const double n = pair[a].n / g;
    q[a] = seen[a] = 0.0;
    trust[a] = 1.0 / s;
    doubt[a] = 1.0;
    if (n <= 0.0) continue;
    const double rho = correlation(pair[a], state.K().most_alike);
    const double tau = std::max(1.0 / s, rho * rho - log_s / n), rest = std::min(1.0, 1.0 - rho * rho + 2.0 / n);
    const double shrunk = rho * n * tau / (n * tau + rest), scale = sd * fit.column[a].sd;
    q[a] = shrunk * scale;
    seen[a] = rho * scale;
    trust[a] = tau;
    doubt[a] = rest;
    if (own > 0.0 && pair[a].own_n > 0.0) {  // by the u that the rows were weighed by, and what they show beyond it
      const double many = pair[a].own_n / g, most = state.K().most_alike * scale;
      double by = pair[a].own_xa / pair[a].own_n;
      for (Index e = 0; e < now.m; ++e) by += fit.cov(a, e) * pair[e].u;
      q[a] = seen[a] = std::clamp(by, -most, most);
      doubt[a] = std::min(1.0, own / v * (1.0 + 2.0 / many) + 4.0 / (many * many));
    }
    const double leaves = 1.0 - shrunk * shrunk;
    if (leaves < least) {
      next_least = least;
      least = leaves;
      nearest = a;
    } else {
      next_least = std::min(next_least, leaves);
    }
  }
  for (Index a = 0; a < now.m; ++a) {
    const double sd2 = fit.column[a].sd * fit.column[a].sd, n = (own > 0.0 ? pair[a].own_n : pair[a].n) / g;
    const double prior = fit.p(a, a) * sd2 * doubt[a] / (trust[a] * (a == nearest ? next_least : least));
    const double all = n + prior;
    trust[a] = all > 0.0 ? n / all : 0.0;
    doubt[a] = all > 0.0 ? v * sd2 * doubt[a] / all : 0.0;
  }
}

// u = P q, the regression of x_j on the support, and c; the variance of x_j is returned. With few joint rows q_ja is
// rather what the other columns say of it, -sum_e P_ae q_je / P_aa.
double project(const State& state, Index j, double* u) {
  const Now& now = state.now();
  const Fit& fit = state.fit;
  Attribute& me = state.attr[j];
  const double v = spread_of(me);
  if (v <= 0.0) return 0.0;
  const Pair* pair = state.pair(j);
  const double own = own_variance(state, j, v);
  observe(state, j, v, own);
  const Index m = now.m, w = state.width;
  double *q = state.scratch.q.data(), *seen = q + w, *trust = q + 2 * w, used = 0.0, c = v;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (Index a = 0; a < m; ++a) {
      const double p = fit.p(a, a);
      double implied = 0.0;
      for (Index e = 0; e < a; ++e) implied -= fit.p(a, e) * q[e];
      for (Index e = a + 1; e < m; ++e) implied -= fit.p(a, e) * q[e];
      q[a] = trust[a] * seen[a] + (p > 0.0 ? (1.0 - trust[a]) * implied / p : 0.0);
    }
  }
  for (Index a = 0; a < m; ++a) {
    u[a] = 0.0;
    for (Index e = 0; e < m; ++e) u[a] += fit.p(a, e) * q[e];
    c -= u[a] * q[a];
    const double n = own > 0.0 ? pair[a].own_n : pair[a].n;
    used += n > 0.0 ? trust[a] * now.row_weight / n : 0.0;
  }
  if (own > 0.0) c = own;
  me.c = std::max(c / std::max(0.5, 1.0 - used), state.K().least_own * v);  // q explains a little by chance
  return v;
}

// r, c, se of attribute j, and u; its variance is returned, 0 where nothing is known of it.
double regress_attribute(const State& state, Index j, double* u) {
  const Now& now = state.now();
  Attribute& me = state.attr[j];
  if (me.rows < 2) return 0.0;
  const double v = project(state, j, u);
  if (v <= 0.0 || me.h <= 0.0) return 0.0;
  const Pair* pair = state.pair(j);
  const double* doubt = state.scratch.q.data() + 3 * state.width;
  double r = me.xe - me.x / me.n * me.e, apart = 0.0;
  const bool joint = state.given().k > 1 || now.m > 1;  // else no row could ever show both
  for (Index a = 0; a < now.m; ++a) {
    r -= u[a] * (pair[a].x_ae + pair[a].pull);
    if (!joint) continue;
    double by = 0.0;
    for (Index e = 0; e < now.m; ++e) by += state.fit.p(a, e) * pair[e].pull;
    apart += (by / me.h) * (by / me.h) * doubt[a];
  }
  me.r = r / me.h;
  me.se = std::sqrt(me.c * now.s2 * now.row_weight / me.h + apart);
  return v;
}

}  // namespace

void count(const State& state, Index t) {
  const Row& row = state.row[t];
  for (Index p = row.begin; p < row.begin + row.size; ++p) {
    const Index j = state.value[p].j;
    Attribute& me = state.attr[j];
    if (me.place >= 0) continue;
    const double x = state.value[p].x, weight = row.weight;
    me.n += weight;
    me.x += weight * x;
    me.xx += weight * x * x;
    me.rows += 1;
    Pair* pair = state.pair(j);
    for (Index o = row.begin; o < row.begin + row.size; ++o) {
      const Index a = state.attr[state.value[o].j].place;
      if (a < 0) continue;
      const double x_a = state.value[o].x;
      Pair& both = pair[a];
      both.n += weight;
      both.x_j += weight * x;
      both.x_a += weight * x_a;
      both.x_jj += weight * x * x;
      both.x_aa += weight * x_a * x_a;
      both.x_ja += weight * x * x_a;
    }
  }
}

void accumulate(const State& state, Index t) { state.now().news += weigh(state, t, -1) >= 0; }

void recount(const State& state) {
  for (Index j = 0; j < static_cast<Index>(state.attr.size()); ++j) {
    Attribute& me = state.attr[j];
    if (me.observed == 0) continue;  // nothing to clear, and memory that was never touched stays untouched
    me.n = me.x = me.xx = 0.0;
    me.rows = 0;
    Pair* pair = state.pair(j);
    for (Index a = 0; a < state.width; ++a) pair[a] = Pair{};
    unheard(state, j);
  }
  for (Source& of : state.source) of.failed = 0;
  for (Index i = 0; i < state.now().n_rows; ++i) count(state, row_index(state, i));
}

void reweight(const State& state) {
  Now& now = state.now();
  const double n = std::min(state.rows(), static_cast<double>(now.n_labels));
  const bool all_there = now.n_rows == now.n_labels;
  const bool much = now.news >= state.K().reweight_news * n || now.n_labels - now.heard_at >= state.K().reweight_rows * n;
  const bool stale = much || std::abs(now.s2 - now.heard_s2) > 0.05 * now.heard_s2;
  const int times = now.heard != now.moves ? 2 : stale && all_there ? 1 : 0;  // else the oldest would be forgotten
  for (int i = 0; i < times; ++i) {
    double* u = state.scratch.u.data();
    for (Index j = 0; j < static_cast<Index>(state.attr.size()); ++j) {
      const Attribute& me = state.attr[j];
      if (me.observed == 0 || me.place >= 0) continue;
      if (me.rows >= 2 && project(state, j, u) > 0.0) {
        for (Index a = 0; a < now.m; ++a) state.pair(j)[a].u = u[a];
      }
    }
    for (Index j = 0; j < static_cast<Index>(state.attr.size()); ++j) {
      if (state.attr[j].observed > 0) unheard(state, j);
    }
    Index before = -1;
    for (Index t = 0; t < now.n_rows; ++t) before = weigh(state, row_index(state, t), before);
  }
  if (times > 0) {
    now.heard = now.moves;
    now.heard_at = now.n_labels;
    now.heard_s2 = now.s2;
    now.news = 0;
  }
}

double shrinkage(const State& state) {
  const Now& now = state.now();
  double top = 0.0, bottom = 0.0;
  for (Index j = 0; j < static_cast<Index>(state.attr.size()); ++j) {
    const Attribute& me = state.attr[j];
    if (me.place >= 0 || me.rows < 3) continue;
    const double v = spread_of(me), x_bar = me.x / me.n;
    if (v <= 0.0) continue;
    for (Index a = 0; a < now.m; ++a) {
      const Pair& pair = state.pair(j)[a];
      const double n = pair.n / now.row_weight, mean = state.fit.column[a].x_bar, sd = state.fit.column[a].sd;
      if (n < 4.0 || sd <= 0.0) continue;
      const double weight = std::min(n, most_rows);
      const double q = (pair.x_ja - x_bar * pair.x_a - mean * pair.x_j + pair.n * x_bar * mean) / pair.n;
      top += weight * (q * q / (v * sd * sd) - 1.0 / n);
      bottom += weight;
    }
  }
  return 1.0 / std::clamp((top + prior_rows * prior_square) / (bottom + prior_rows), least_square, 1.0);
}

Candidate regress(const State& state, Index s, std::vector<double>& u) {
  Source& of = state.source[s];
  const Now& now = state.now();
  const Index m = now.m, q = of.size;
  if (static_cast<Index>(u.size()) < (q + 1) * (m + 1)) u.resize(static_cast<std::size_t>((q + 1) * (m + 1)));
  Candidate out;
  out.source = s;
  out.u = u.data();
  if (q == 1) {
    const Index j = state.listed[of.first];
    const Attribute& me = state.attr[j];
    out.variance = regress_attribute(state, j, out.u);
    if (out.variance <= 0.0) return out;
    out.known = me.rows >= static_cast<Index>(state.K().few) && me.h > 0.0;
    out.r = me.r;
    out.c = me.c;
    out.se = me.se;
    out.z2 = me.se > 0.0 ? (me.r / me.se) * (me.r / me.se) : 0.0;
    out.rows = me.h / now.row_weight;
  } else {
    std::vector<Index> at;
    Index rows = 0;
    for (Index i = 0; i < q; ++i) {
      const Index j = state.listed[of.first + i];
      if (regress_attribute(state, j, u.data() + (static_cast<Index>(at.size()) + 1) * m) > 0.0) at.push_back(j);
    }
    const Index n = static_cast<Index>(at.size());
    if (n == 0) return out;
    std::vector<double> V(static_cast<std::size_t>(n * n)), N(V.size()), r(static_cast<std::size_t>(n)), inverse;
    double h = infinity;
    for (Index i = 0; i < n; ++i) {
      const Attribute& me = state.attr[at[i]];
      r[i] = me.r;
      h = std::min(h, me.h);
      rows = i == 0 ? me.rows : std::min(rows, me.rows);
      for (Index l = 0; l < n; ++l) {
        const Attribute& other = state.attr[at[l]];
        const double root = std::sqrt(own_square(state, at[i]) * own_square(state, at[l]));
        const double product = state.within[of.within + me.slot * of.size + other.slot];
        const double rho = i == l ? 1.0 : root > 0.0 ? std::clamp(product / root, -0.995, 0.995) : 0.0;
        V[i * n + l] = rho * std::sqrt(me.c * other.c);
        N[i * n + l] = rho * me.se * other.se;
      }
    }
    out.z2 = quadratic(N.data(), r.data(), n, inverse, state.scratch.joined);
    const double gain = quadratic(V.data(), r.data(), n, inverse, state.scratch.joined);
    out.known = rows >= static_cast<Index>(state.K().few) + n && h > 0.0;
    out.rows = h / now.row_weight;
    for (Index a = 0; a < m; ++a) out.u[a] = 0.0;
    if (n == 1) inverse.assign(1, V[0] > 0.0 ? 1.0 / V[0] : 0.0);
    if (gain > 0.0) {  // scaled so that what it has of its own is 1
      for (Index i = 0; i < n; ++i) {
        double v = 0.0;
        for (Index l = 0; l < n; ++l) v += inverse[i * n + l] * r[l];
        v /= std::sqrt(gain);
        for (Index a = 0; a < m; ++a) out.u[a] += v * u[(i + 1) * m + a];
      }
    }
    out.c = 1.0;
    out.se = out.z2 > 0.0 ? std::sqrt(gain / out.z2) : std::sqrt(now.s2 * now.row_weight / h);
    out.r = std::sqrt(std::max(0.0, gain - (static_cast<double>(n) - 1.0) * out.se * out.se));
    out.variance = 1.0;
    for (Index a = 0; a < m; ++a) {
      for (Index e = 0; e < m; ++e) out.variance += out.u[a] * out.u[e] * state.fit.cov(a, e);
    }
  }
  return out;
}

double evidence(const State& state, const Candidate& of) {
  const double q = static_cast<double>(state.source[of.source].size);
  const double rho = std::min(of.r * of.r / (of.c * state.now().s2), 0.98);
  const double sharpen = rho > 1e-6 ? -std::log1p(-rho) / rho : 1.0;  // it lowers the residual variance that z takes
  return of.z2 * sharpen * std::max(0.0, 1.0 - (state.K().fit_by_chance + q - 1.0) / of.rows);
}

void sum_jointly(const State& state, std::span<const Index> attributes, std::vector<JointSums>& out) {
  const Now& now = state.now();
  const std::size_t size = attributes.size();
  out.assign(size * size, JointSums{});
  for (std::size_t i = 0; i < size; ++i) state.attr[attributes[i]].mark = static_cast<Index>(i);
  std::vector<std::pair<Index, double>> own;  // which of the attributes a row shows, and what they have of their own
  Index before = -1;
  for (Index i = 0; i < now.n_rows; ++i) {
    const Row& row = state.row[row_index(state, i)];
    own.clear();
    for (Index p = row.begin; p < row.begin + row.size; ++p) {
      const Index at = state.attr[state.value[p].j].mark;
      if (at >= 0) own.emplace_back(at, state.value[p].x);
    }
    if (own.size() < 2 || row.weight <= 0.0) continue;
    const Index lacking = missing(state, row);
    if (!lacks_the_same(state, lacking, before)) condition(state, state.fit, now.m);
    expect(state, state.fit, now.m, lacking);
    before = lacking;
    double e = row.y - (now.m > 0 ? state.fit.label->y_bar : now.y_mean);
    for (Index a = 0; a < now.m; ++a) e -= state.fit.column[a].w * state.scratch.v[a];
    for (auto& [at, x] : own) {
      const Pair* pair = state.pair(attributes[at]);
      for (Index a = 0; a < now.m; ++a) x -= pair[a].u * state.scratch.v[a];
    }
    for (const auto& [at, x] : own) {
      for (const auto& [with, z] : own) {
        if (at >= with) continue;
        JointSums& of = out[at * size + with];
        const double values[] = {1.0, x, z, e, x * x, z * z, x * z, x * e, z * e};
        double* sums[] = {&of.n, &of.x, &of.z, &of.e, &of.xx, &of.zz, &of.xz, &of.xe, &of.ze};
        for (int k = 0; k < 9; ++k) *sums[k] += row.weight * values[k];
      }
    }
  }
  for (const Index j : attributes) state.attr[j].mark = -1;
}

void swap_losses(const State& state, const Candidate& of, double r, std::span<const Member> list, double* losses) {
  const Fit& fit = state.fit;
  std::vector<double> A, w, inverse;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Member& b = list[i];
    if (b.size == 1) {
      const double u = of.u[b.first], left = fit.column[b.first].w - u * r / of.c;
      const double p = fit.p(b.first, b.first) + u * u / of.c;
      losses[i] = p > 1e-300 ? left * left / p : 0.0;
      continue;
    }
    A.assign(static_cast<std::size_t>(b.size * b.size), 0.0);
    w.assign(static_cast<std::size_t>(b.size), 0.0);
    for (Index l = 0; l < b.size; ++l) {
      w[l] = fit.column[b.first + l].w - of.u[b.first + l] * r / of.c;
      for (Index e = 0; e < b.size; ++e) {
        A[l * b.size + e] = fit.p(b.first + l, b.first + e) + of.u[b.first + l] * of.u[b.first + e] / of.c;
      }
    }
    losses[i] = quadratic(A.data(), w.data(), b.size, inverse, state.scratch.joined);
  }
}

double log_likelihood_ratio(const Candidate& of, Index q, double size) {
  const double mu = std::min(std::sqrt(size * of.c) / of.se, certain);
  return log_0f1(0.5 * static_cast<double>(q), 0.25 * mu * mu * of.z2) - 0.5 * mu * mu;
}

}  // namespace keyhole::thrifty
