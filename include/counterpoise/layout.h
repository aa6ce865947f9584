// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counterpoise/error.h"
#include "counterpoise/plan.h"

// For callers who train: any per-token tensor of a window, cut as a plan's placement says, and put together
// again.
//
// Order. The whole window is its documents end to end, as cu_seqlens describes it. A rank's local order is
// the order of its tokens in the whole window: documents in order, positions ascending inside each.
// (Documents [0, 4, 8] at cp = 2 in per-document zigzag give rank 0 the positions 0, 3, 0, 3.) No padding
// exists, so ranks may hold different numbers of tokens, also none.
namespace counterpoise {

// Tokens in the whole window, and on one rank.
int64_t window_tokens(const WindowPlan& window);
int64_t local_tokens(const WindowPlan& window, int32_t rank);

// Per local token: its position inside its document (what rotary embeddings want), and its index in the
// window.
std::vector<int64_t> local_positions(const WindowPlan& window, int32_t rank);
std::vector<int64_t> global_indices(const WindowPlan& window, int32_t rank);

// Offsets of the documents in the rank's local order: documents + 1 entries, equal neighbours where the rank
// holds nothing of a document. cu_seqlens of the whole window, likewise.
std::vector<int64_t> local_cu_seqlens(const WindowPlan& window, int32_t rank);
std::vector<int64_t> window_cu_seqlens(const WindowPlan& window);

// Copies rows of `row_bytes` between the whole window and one rank's share. Sizes must fit exactly (kUsage).
void shard_rows(const WindowPlan& window, int32_t rank, std::span<const std::byte> whole,
                std::span<std::byte> local, size_t row_bytes);
void gather_rows(const WindowPlan& window, int32_t rank, std::span<const std::byte> local,
                 std::span<std::byte> whole, size_t row_bytes);

// The same for vectors of `width` elements per token. gather writes the rank's rows of `whole` and leaves the
// others.
template <typename T>
std::vector<T> shard(const WindowPlan& window, int32_t rank, const std::vector<T>& whole, size_t width = 1) {
  std::vector<T> local(static_cast<size_t>(local_tokens(window, rank)) * width);
  shard_rows(window, rank, std::as_bytes(std::span(whole)), std::as_writable_bytes(std::span(local)),
             width * sizeof(T));
  return local;
}
template <typename T>
void gather(const WindowPlan& window, int32_t rank, const std::vector<T>& local, std::vector<T>& whole,
            size_t width = 1) {
  gather_rows(window, rank, std::as_bytes(std::span(local)), std::as_writable_bytes(std::span(whole)),
              width * sizeof(T));
}

// Where the token `shift` places further on in the same document lives; rank -1 where the document ends (or,
// for a negative shift, begins) before that. Lets ranks roll a sharded tensor by asking their peers for rows.
struct TokenHome {
  int32_t rank = -1;
  int64_t row = 0;
  auto operator<=>(const TokenHome&) const = default;
};
std::vector<TokenHome> roll_sources(const WindowPlan& window, int32_t rank, int64_t shift);

// Every token of the window replaced by the one `shift` places further on in its document, `fill` where there
// is none. Before sharding: rolling a sharded tensor would take the neighbour of the wrong slice.
template <typename T>
std::vector<T> roll(const WindowPlan& window, const std::vector<T>& whole, int64_t shift, T fill) {
  if (static_cast<int64_t>(whole.size()) != window_tokens(window)) {
    throw_error(ErrorKind::kUsage, "roll: {} elements for {} tokens", whole.size(), window_tokens(window));
  }
  std::vector<T> rolled;
  rolled.reserve(whole.size());
  int64_t start = 0;
  for (const PlanDocument& document : window.documents) {
    for (int64_t at = 0; at < document.length; ++at) {
      const int64_t source = at + shift;
      rolled.push_back(source >= 0 && source < document.length ? whole[start + source] : fill);
    }
    start += document.length;
  }
  return rolled;
}

inline constexpr int64_t kIgnoreLabel = -100;

// The label of each token is the next token of its document; the last one has none.
inline std::vector<int64_t> next_token_labels(const WindowPlan& window, const std::vector<int64_t>& tokens,
                                              int64_t ignore = kIgnoreLabel) {
  return roll(window, tokens, 1, ignore);
}

// A loss over ranks is the sum of sums over the sum of counts: ranks hold different numbers of labelled
// tokens, so a mean of their means is another number.
struct LossParts {
  double sum = 0;
  int64_t count = 0;

  LossParts& operator+=(const LossParts& other) {
    sum += other.sum;
    count += other.count;
    return *this;
  }
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};
// Of per-token losses whose label is not `ignore`.
LossParts loss_parts(std::span<const double> losses, std::span<const int64_t> labels,
                     int64_t ignore = kIgnoreLabel);

}  // namespace counterpoise
