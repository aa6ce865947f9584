// SPDX-License-Identifier: Apache-2.0
#include "exec/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "counterpoise/error.h"
#include "exec/whole_document.h"

namespace counterpoise {
namespace {

constexpr const char* kNames[kResults] = {"out", "lse", "dq", "dk", "dv"};

// Results of all ranks of one payload; the rows of rank r in its local order.
class Gathered {
 public:
  Gathered(const WindowTensors& mine, Payload payload, Communicator& group) : layout_(mine.home(payload)) {
    const int64_t bytes = mine.rows() * layout_.stride() * static_cast<int64_t>(sizeof(float));
    ranks_ = group.all_gather({reinterpret_cast<const std::byte*>(layout_.data), static_cast<size_t>(bytes)});
  }
  const float* at(int32_t rank, int64_t row, int32_t head) const {
    Rows rows = layout_;
    rows.data = reinterpret_cast<float*>(const_cast<std::byte*>(ranks_[static_cast<size_t>(rank)].data()));
    return rows.at(row, head);
  }

 private:
  Rows layout_;
  std::vector<std::vector<std::byte>> ranks_;
};

struct Tally {
  std::array<double, kResults> error{}, plain_error{}, largest{};
};

double difference(double actual, double expected) {
  if (std::isinf(expected) || std::isnan(actual)) return actual == expected ? 0 : INFINITY;
  return std::abs(actual - expected);
}

class WindowChecker {
 public:
  WindowChecker(const StepPlan& plan, int32_t group_index, int32_t window, const WindowTensors& mine,
                Communicator& group)
      : shape_(plan.shape),
        window_(plan.groups[static_cast<size_t>(group_index)].windows[static_cast<size_t>(window)]),
        source_{plan.seed, group_index, window},
        backward_(!window_.backward.programs.empty()),
        partial_(mine, Payload::kPartial, group) {
    if (!backward_) return;
    gradients_.emplace_back(mine, Payload::kDq, group);
    gradients_.emplace_back(mine, Payload::kDkv, group);
  }

  bool backward() const { return backward_; }

  void check(int32_t document, CheckKind kind, const KernelOptions& options, Tally& tally) const {
    const WholeDocument whole(shape_, source_, document,
                              window_.documents[static_cast<size_t>(document)].length);
    if (whole.length == 0) return;
    const Expectation expected = kind == CheckKind::kOracle ? expect_oracle(whole, backward_)
                                                            : expect_single(whole, backward_, options);
    for (int r = 0; r < kResults; ++r) {
      tally.plain_error[static_cast<size_t>(r)] =
          std::max(tally.plain_error[static_cast<size_t>(r)], expected.plain_error[static_cast<size_t>(r)]);
      tally.largest[static_cast<size_t>(r)] =
          std::max(tally.largest[static_cast<size_t>(r)], expected.largest[static_cast<size_t>(r)]);
    }
    int64_t rows = 0;
    for (int32_t rank = 0; rank < static_cast<int32_t>(window_.placement.size()); ++rank) {
      for (const PlanPiece& piece : window_.list(window_.placement[static_cast<size_t>(rank)])) {
        if (piece.document != document) continue;
        rows += piece.range.size();
        compare(rank, piece, expected, tally);
      }
    }
    CP_CHECK(rows == whole.length);
  }

 private:
  void compare(int32_t rank, const PlanPiece& piece, const Expectation& expected, Tally& tally) const {
    const int64_t d = shape_.head_dim, dv = shape_.v_head_dim;
    for (int64_t i = 0; i < piece.range.size(); ++i) {
      const int64_t position = piece.range.begin + i, row = piece.row + i;
      for (int32_t head = 0; head < shape_.heads; ++head) {
        const int64_t at = position * shape_.heads + head;
        const float* partial = partial_.at(rank, row, head);
        compare(kResultOut, partial, dv, at, expected, tally);
        compare(kResultLse, partial + dv, 1, at, expected, tally);
        if (backward_) compare(kResultDq, gradients_[0].at(rank, row, head), d, at, expected, tally);
      }
      for (int32_t head = 0; backward_ && head < shape_.kv_heads; ++head) {
        const int64_t at = position * shape_.kv_heads + head;
        compare(kResultDk, gradients_[1].at(rank, row, head), d, at, expected, tally);
        compare(kResultDv, gradients_[1].at(rank, row, head) + d, dv, at, expected, tally);
      }
    }
  }

  static void compare(Result result, const float* actual, int64_t dim, int64_t at,
                      const Expectation& expected, Tally& tally) {
    const double* wanted = &expected.values[result][static_cast<size_t>(at * dim)];
    for (int64_t j = 0; j < dim; ++j)
      tally.error[result] = std::max(tally.error[result], difference(actual[j], wanted[j]));
  }

  const AttentionShape& shape_;
  const WindowPlan& window_;
  RandomSource source_;
  bool backward_;
  Gathered partial_;
  std::vector<Gathered> gradients_;  // dq, dkv
};

Tally largest_of_all(const Tally& mine, Communicator& group) {
  Tally all;
  for (const auto& bytes : group.all_gather(std::as_bytes(std::span(&mine, 1)))) {
    Tally other;
    std::memcpy(&other, bytes.data(), sizeof other);
    for (size_t r = 0; r < kResults; ++r) {
      all.error[r] = std::max(all.error[r], other.error[r]);
      all.plain_error[r] = std::max(all.plain_error[r], other.plain_error[r]);
      all.largest[r] = std::max(all.largest[r], other.largest[r]);
    }
  }
  return all;
}

}  // namespace

bool CheckResult::ok() const {
  return std::all_of(tensors.begin(), tensors.end(), [](const TensorCheck& t) { return t.ok(); });
}

// Of each tensor the window nearest to, or furthest beyond, what is allowed.
void CheckResult::add(const CheckResult& other) {
  windows += other.windows;
  documents += other.documents;
  if (tensors.empty()) tensors = other.tensors;
  for (size_t i = 0; i < std::min(tensors.size(), other.tensors.size()); ++i) {
    const TensorCheck &a = tensors[i], &b = other.tensors[i];
    if (b.error * a.allowed > a.error * b.allowed || (!b.ok() && a.ok())) tensors[i] = b;
  }
}

CheckResult check_window(const StepPlan& plan, int32_t group_index, int32_t window, const WindowTensors& mine,
                         Communicator& group, CheckKind kind, const KernelOptions& options) {
  if (kind == CheckKind::kNone) return {};
  const WindowChecker checker(plan, group_index, window, mine, group);
  const auto documents = static_cast<int32_t>(
      plan.groups[static_cast<size_t>(group_index)].windows[static_cast<size_t>(window)].documents.size());
  Tally tally;
  group.enter(Phase::kComputing);
  for (int32_t document = group.rank(); document < documents; document += group.size()) {
    checker.check(document, kind, options, tally);
  }
  tally = largest_of_all(tally, group);
  const double times = kind == CheckKind::kOracle ? 2 : 4;
  CheckResult result{{}, 1, documents};
  for (size_t r = 0; r < (checker.backward() ? kResults : kResultDq); ++r) {
    result.tensors.push_back(
        {kNames[r], tally.error[r], times * (tally.plain_error[r] + tally.largest[r] * 0x1p-23)});
  }
  return result;
}

}  // namespace counterpoise
