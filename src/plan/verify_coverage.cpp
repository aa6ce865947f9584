// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/verify_pass.h"

namespace counterpoise::verifier {
namespace {

// Pairs of an nq x nk rectangle on its first `diagonals` diagonals, from the corner (last query, first key)
// on. Diagonals have 1, 2, ..., m, m, ..., m, ..., 2, 1 pairs with m = min(nq, nk).
int64_t first_diagonals(int64_t nq, int64_t nk, int64_t diagonals) {
  const int64_t all = nq + nk - 1;
  const int64_t n = std::clamp<int64_t>(diagonals, 0, all);
  const int64_t m = std::min(nq, nk), top = std::max(nq, nk);  // full length from diagonal m to diagonal top
  if (n <= m) return n * (n + 1) / 2;
  if (n <= top) return m * (m + 1) / 2 + (n - m) * m;
  const int64_t missing = all - n;
  return nq * nk - missing * (missing + 1) / 2;
}

// Tiles of one document, sorted by q.begin.
class DocumentTiles {
 public:
  DocumentTiles(const Case& c, std::vector<int32_t> tiles) : c_(c), tiles_(std::move(tiles)) {
    std::sort(tiles_.begin(), tiles_.end(),
              [&](int32_t a, int32_t b) { return tile(a).q.begin < tile(b).q.begin; });
  }

  Wide pairs() const {
    Wide sum = 0;
    for (int32_t i : tiles_) {
      const Wide heads = tile(i).heads.end - tile(i).heads.begin;
      sum += heads * count_pairs(tile(i).q, tile(i).kv, c_.plan.shape.mask);
    }
    return sum;
  }

  // A sweep over q that keeps the tiles still open.
  void check_disjoint() const {
    std::vector<int32_t> open;
    for (int32_t next : tiles_) {
      std::erase_if(open, [&](int32_t old) { return tile(old).q.end <= tile(next).q.begin; });
      for (int32_t old : open) {
        if (!share_pairs(tile(old), tile(next))) continue;
        return c_.findings.add("coverage", "tiles {} and {} both compute pairs of document {}", old, next,
                               tile(next).document);
      }
      open.push_back(next);
    }
  }

 private:
  const Tile& tile(int32_t i) const { return c_.pass.tiles[i]; }

  bool share_pairs(const Tile& a, const Tile& b) const {
    if (std::max(a.heads.begin, b.heads.begin) >= std::min(a.heads.end, b.heads.end)) return false;
    const Range kv{std::max(a.kv.begin, b.kv.begin), std::min(a.kv.end, b.kv.end)};
    if (kv.begin >= kv.end) return false;
    const Range q{std::max(a.q.begin, b.q.begin), std::min(a.q.end, b.q.end)};
    return count_pairs(q, kv, c_.plan.shape.mask) > 0;
  }

  const Case& c_;
  std::vector<int32_t> tiles_;
};

}  // namespace

int64_t count_pairs(Range q, Range kv, const Mask& mask) {
  const int64_t nq = q.end - q.begin, nk = kv.end - kv.begin;
  if (nq <= 0 || nk <= 0) return 0;
  // Diagonal number `n` (from 1) holds the pairs with key - query = kv.begin - (q.end - 1) + n - 1.
  const int64_t first = kv.begin - (q.end - 1);
  const int64_t up_to = mask.right < 0 ? nq + nk - 1 : mask.right - first + 1;
  const int64_t before = mask.left < 0 ? 0 : -mask.left - first;
  return std::max<int64_t>(0, first_diagonals(nq, nk, up_to) - first_diagonals(nq, nk, before));
}

// Disjoint tiles whose pairs add up to all pairs of a document cover it exactly once.
void check_coverage(const Case& c) {
  std::vector<std::vector<int32_t>> by_document(c.window.documents.size());
  for (size_t i = 0; i < c.pass.tiles.size(); ++i) {
    by_document[c.pass.tiles[i].document].push_back(static_cast<int32_t>(i));
  }
  for (size_t document = 0; document < by_document.size(); ++document) {
    const Range all{0, c.window.documents[document].length};
    const Wide expected = Wide{count_pairs(all, all, c.plan.shape.mask)} * c.plan.shape.heads;
    const DocumentTiles tiles(c, std::move(by_document[document]));
    const Wide pairs = tiles.pairs();
    if (pairs != expected) {
      c.findings.add("coverage", "document {}: {} pairs computed, {} unmasked", document,
                     static_cast<double>(pairs), static_cast<double>(expected));
    } else {
      tiles.check_disjoint();
    }
  }
}

}  // namespace counterpoise::verifier
