// SPDX-License-Identifier: Apache-2.0
#include "exec/measured_prices.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "exec/whole_document.h"

namespace counterpoise {
namespace {

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point begin) {
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

// The best of at least three runs within `budget` seconds.
template <typename Work>
double best_seconds(double budget, const Work& work) {
  const auto begin = Steady::now();
  double best = INFINITY;
  for (int i = 0; i < 3 || (i < 1000 && seconds_since(begin) < budget); ++i) {
    const auto start = Steady::now();
    work();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

PairPrice measure(const AttentionShape& s, int64_t length, double budget, const KernelOptions& options) {
  const WholeDocument document(s, RandomSource{}, 0, length);
  const HeadShape shape{s.heads, s.kv_heads, s.head_dim, s.v_head_dim, 0};
  const AttentionTile tile{{0, length}, {0, length}, {0, s.heads}, 0, 0};
  std::vector<float> out(document.dout.size()), lse(static_cast<size_t>(length * s.heads)),
      dq(document.q.size()), dk(document.k.size()), dv(document.v.size());
  const auto view = [&](auto& data, int64_t heads, int64_t dim) {
    return packed_view(data.data(), length, heads, dim);
  };
  const ConstTensorView q = view(document.q, s.heads, s.head_dim),
                        k = view(document.k, s.kv_heads, s.head_dim),
                        v = view(document.v, s.kv_heads, s.v_head_dim),
                        dout = view(document.dout, s.heads, s.v_head_dim);
  const TensorView o = view(out, s.heads, s.v_head_dim), l = view(lse, s.heads, 1);
  AttentionOptions how;
  how.isa = options.isa;
  how.threads = options.threads;
  const double pairs = static_cast<double>(area(tile.q, tile.kv, s.mask)) * static_cast<double>(s.heads);
  const double forward = best_seconds(budget / 4, [&] {
    attention_forward({&tile, 1}, shape, s.mask, {q, k, v, o, l}, how);
  });
  const double backward = best_seconds(budget * 3 / 4, [&] {
    attention_backward({&tile, 1}, shape, s.mask,
                       {q, k, v, o, l, dout, view(dq, s.heads, s.head_dim), view(dk, s.kv_heads, s.head_dim),
                        view(dv, s.kv_heads, s.v_head_dim)},
                       how);
  });
  return {pairs / static_cast<double>(s.heads), forward / pairs, backward / pairs};
}

}  // namespace

std::vector<PairPrice> measure_pair_prices(const AttentionShape& shape, int64_t longest, double budget,
                                           const KernelOptions& options) {
  std::vector<int64_t> lengths;
  for (int64_t length = 16; length < longest; length *= 4) lengths.push_back(length);
  lengths.push_back(std::max<int64_t>(longest, 16));
  std::vector<PairPrice> table;
  for (const int64_t length : lengths) {
    table.push_back(measure(shape, length, budget / static_cast<double>(lengths.size()), options));
  }
  return table;
}

double MeasuredPrices::per_pair(double pairs, bool backward) const {
  const auto price = [&](const PairPrice& entry) { return backward ? entry.backward : entry.forward; };
  const auto above =
      std::find_if(table_.begin(), table_.end(), [&](const PairPrice& entry) { return entry.area >= pairs; });
  if (above == table_.begin()) return price(*above);
  if (above == table_.end()) return price(table_.back());
  const auto below = std::prev(above);
  const double t = std::log(pairs / below->area) / std::log(above->area / below->area);
  return std::exp((1 - t) * std::log(price(*below)) + t * std::log(price(*above)));
}

double MeasuredPrices::attend(const AttentionShape& shape, std::span<const PlanDocument>,
                              std::span<const Tile> tiles, bool backward) const {
  double seconds = 0;
  for (const Tile& tile : tiles) {
    const auto pairs = static_cast<double>(area(tile.q, tile.kv, shape.mask));
    if (pairs > 0) seconds += pairs * tile.heads.size() * per_pair(pairs, backward);
  }
  return seconds;
}

}  // namespace counterpoise
