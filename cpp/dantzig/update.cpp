#include "dantzig/update.hpp"

#include <cmath>

#include "linalg/vector.hpp"

namespace keyhole::dantzig {

namespace {

// A pivot of Sherman and Morrison below this leaves a matrix too close to singular.
constexpr double kLeastPivot = 1e-4;
constexpr double kHuge = 1e300;

// 0, or what is wrong with the round.
Index inspect(Index d, const Round& round) {
  const auto& [B, h, v] = round;
  const auto k = static_cast<Index>(B.size());
  Index verdict = 0;
  for (Index i = 0; i < k; ++i) {
    if (B[i] < 0 || B[i] >= d) return kBadIndex;
    if (!(std::abs(v[i]) < kHuge)) return kBadValue;
    for (Index j = 0; j < k; ++j) {
      if (B[i] == B[j] && i != j) return kBadIndex;
      if (!(std::abs(h(i, j)) < kHuge)) return kBadValue;
      if (h(i, j) != h(j, i)) verdict = kAsymmetric;
    }
  }
  return verdict;
}

// Column cp of G has grown by v_0: Sherman and Morrison. False where the new G is close to singular.
bool absorb(const Basis& basis, Index m, Index cp, std::vector<double> (&v)[4]) {
  linalg::times(basis.G_inv, m, v[0], v[1]);
  for (Index i = 0; i < m; ++i) v[2][i] = basis.G_inv(cp, i);
  const double p = 1.0 + v[1][cp];
  linalg::subtract_outer(basis.G_inv, m, v[1], v[2], p);
  return std::abs(p) >= kLeastPivot;
}

// G += the part of h that falls on it, and its inverse with it.
Index follow(const Basis& basis, Work& work, Index m, const Round& round, Index most) {
  const auto& [B, h, _] = round;
  auto& v = work.v;
  const auto k = static_cast<Index>(B.size());
  Index changed = 0;
  bool sound = true;
  for (Index b = 0; b < k; ++b) {
    const Index cp = basis.pos[0][B[b]];
    if (cp < 0) continue;
    bool touched = false;
    for (Index i = 0; i < m; ++i) v[0][i] = 0.0;
    for (Index a = 0; a < k; ++a) {
      const Index rp = basis.pos[1][B[a]];
      if (rp < 0) continue;
      basis.G(rp, cp) += h(a, b);
      v[0][rp] = h(a, b);
      touched = true;
    }
    if (!touched) continue;
    changed += 1;
    if (changed > most || 3 * changed > m + 2) sound = false;
    if (sound) sound = absorb(basis, m, cp, v);
  }
  return sound ? changed : kStaleInverse;
}

}  // namespace

Index add_round(linalg::MatrixView H, std::span<double> b, const Round& round, const Basis& basis, Work& work, Index m,
                Index most, bool asymmetric) {
  const Index fault = inspect(static_cast<Index>(b.size()), round);
  if (fault != 0 && !(fault == kAsymmetric && asymmetric)) return fault;
  const auto& [B, h, v] = round;
  const auto k = static_cast<Index>(B.size());
  for (Index i = 0; i < k; ++i) {
    b[B[i]] += v[i];
    if (H.rows == 0) continue;
    for (Index j = 0; j < k; ++j) H(B[i], B[j]) += h(i, j);
  }
  return follow(basis, work, m, round, most);
}

}  // namespace keyhole::dantzig
