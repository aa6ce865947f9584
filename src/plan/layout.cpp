// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/layout.h"

#include <cstring>

namespace counterpoise {
namespace {

std::span<const PlanPiece> held(const WindowPlan& window, int32_t rank) {
  if (rank < 0 || rank >= static_cast<int32_t>(window.placement.size())) {
    throw_error(ErrorKind::kUsage, "rank {}: the window has ranks 0 ... {}", rank,
                window.placement.size() - 1);
  }
  return window.list(window.placement[rank]);
}

void check_size(const char* what, size_t bytes, int64_t tokens, size_t row_bytes) {
  if (bytes == static_cast<size_t>(tokens) * row_bytes) return;
  throw_error(ErrorKind::kUsage, "{}: {} bytes, wanted {} tokens of {} bytes", what, bytes, tokens,
              row_bytes);
}

// Calls copy(whole offset, local offset, bytes) for every run of rows.
template <typename Copy>
void for_each_run(const WindowPlan& window, int32_t rank, size_t row_bytes, Copy copy) {
  const std::vector<int64_t> start = window_cu_seqlens(window);
  for (const PlanPiece& piece : held(window, rank)) {
    const size_t bytes = static_cast<size_t>(piece.range.size()) * row_bytes;
    if (bytes == 0) continue;
    copy(static_cast<size_t>(start[piece.document] + piece.range.begin) * row_bytes,
         static_cast<size_t>(piece.row) * row_bytes, bytes);
  }
}

}  // namespace

int64_t window_tokens(const WindowPlan& window) {
  int64_t tokens = 0;
  for (const PlanDocument& document : window.documents) tokens += document.length;
  return tokens;
}

int64_t local_tokens(const WindowPlan& window, int32_t rank) {
  int64_t tokens = 0;
  for (const PlanPiece& piece : held(window, rank)) tokens += piece.range.size();
  return tokens;
}

std::vector<int64_t> local_positions(const WindowPlan& window, int32_t rank) {
  std::vector<int64_t> positions;
  for (const PlanPiece& piece : held(window, rank)) {
    for (int64_t at = piece.range.begin; at < piece.range.end; ++at) positions.push_back(at);
  }
  return positions;
}

std::vector<int64_t> global_indices(const WindowPlan& window, int32_t rank) {
  const std::vector<int64_t> start = window_cu_seqlens(window);
  std::vector<int64_t> indices;
  for (const PlanPiece& piece : held(window, rank)) {
    for (int64_t at = piece.range.begin; at < piece.range.end; ++at)
      indices.push_back(start[piece.document] + at);
  }
  return indices;
}

std::vector<int64_t> local_cu_seqlens(const WindowPlan& window, int32_t rank) {
  std::vector<int64_t> offsets(window.documents.size() + 1, 0);
  for (const PlanPiece& piece : held(window, rank)) offsets[piece.document + 1] += piece.range.size();
  for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  return offsets;
}

std::vector<int64_t> window_cu_seqlens(const WindowPlan& window) {
  std::vector<int64_t> offsets{0};
  for (const PlanDocument& document : window.documents) offsets.push_back(offsets.back() + document.length);
  return offsets;
}

void shard_rows(const WindowPlan& window, int32_t rank, std::span<const std::byte> whole,
                std::span<std::byte> local, size_t row_bytes) {
  check_size("shard, whole tensor", whole.size(), window_tokens(window), row_bytes);
  check_size("shard, local tensor", local.size(), local_tokens(window, rank), row_bytes);
  for_each_run(window, rank, row_bytes, [&](size_t from, size_t to, size_t bytes) {
    std::memcpy(local.data() + to, whole.data() + from, bytes);
  });
}

void gather_rows(const WindowPlan& window, int32_t rank, std::span<const std::byte> local,
                 std::span<std::byte> whole, size_t row_bytes) {
  check_size("gather, whole tensor", whole.size(), window_tokens(window), row_bytes);
  check_size("gather, local tensor", local.size(), local_tokens(window, rank), row_bytes);
  for_each_run(window, rank, row_bytes, [&](size_t to, size_t from, size_t bytes) {
    std::memcpy(whole.data() + to, local.data() + from, bytes);
  });
}

std::vector<TokenHome> roll_sources(const WindowPlan& window, int32_t rank, int64_t shift) {
  std::vector<TokenHome> home(static_cast<size_t>(window_tokens(window)));
  const std::vector<int64_t> start = window_cu_seqlens(window);
  for (int32_t holder = 0; holder < static_cast<int32_t>(window.placement.size()); ++holder) {
    for (const PlanPiece& piece : held(window, holder)) {
      for (int64_t i = 0; i < piece.range.size(); ++i) {
        home[start[piece.document] + piece.range.begin + i] = {holder, piece.row + i};
      }
    }
  }
  std::vector<TokenHome> sources;
  for (const PlanPiece& piece : held(window, rank)) {
    for (int64_t at = piece.range.begin; at < piece.range.end; ++at) {
      const int64_t source = at + shift;
      const bool inside = source >= 0 && source < window.documents[piece.document].length;
      sources.push_back(inside ? home[start[piece.document] + source] : TokenHome{});
    }
  }
  return sources;
}

LossParts loss_parts(std::span<const double> losses, std::span<const int64_t> labels, int64_t ignore) {
  if (losses.size() != labels.size()) {
    throw_error(ErrorKind::kUsage, "loss: {} losses for {} labels", losses.size(), labels.size());
  }
  LossParts parts;
  for (size_t i = 0; i < losses.size(); ++i) {
    if (labels[i] != ignore) parts += {losses[i], 1};
  }
  return parts;
}

}  // namespace counterpoise
