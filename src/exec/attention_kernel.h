// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "counterpoise/attention.h"
#include "counterpoise/execute.h"
#include "exec/counted_memory.h"
#include "exec/key_sharing.h"
#include "exec/rows.h"
#include "exec/step_tensors.h"

namespace counterpoise {

struct KernelOptions {
  Isa isa = Isa::kAuto;
  int threads = 1;
  bool in_place = true;  // read keys and values of ranks of the node where they lie
};

// Real attention on real tensors, float32. One per rank and step.
class AttentionKernel final : public Kernel {
 public:
  // Makes this rank's tensors of all its windows: random q, k, v, dout. `group`: the ranks of its group.
  AttentionKernel(const StepPlan& plan, int32_t group_index, Communicator& group, MemoryCounter& counter,
                  const KernelOptions& options);

  void begin_pass(const PassContext& context) override;
  void end_pass() override;
  void before_op(int32_t op) override;
  void after_op(int32_t op) override;
  double attend(std::span<const Tile> tiles) override;
  double merge(int32_t merge) override;
  std::span<const std::byte> outgoing(int32_t transfer) override;
  void sent(int32_t transfer) override;
  std::span<std::byte> incoming(int32_t transfer) override;
  void received(int32_t transfer) override;

  const WindowTensors& tensors(int32_t window) const { return windows_[static_cast<size_t>(window)]; }
  // Of this thread (of the process, when the kernel has threads of its own), in attend and merge.
  double cpu_seconds() const { return attend_seconds_ + merge_seconds_; }
  double attend_cpu_seconds() const { return attend_seconds_; }
  int64_t bytes_sent() const { return bytes_sent_; }          // as the plan counts them
  int64_t bytes_in_place() const { return bytes_in_place_; }  // of those, read where they lie

 private:
  // A piece of keys that lies in another rank's memory.
  struct Lent {
    uint64_t offset = 0;  // of its first row, in the owner's shared memory
    Rows rows;            // with that row as row 0
  };
  // Tiles that one call of attention can take: same tensors on all sides.
  struct Operands {
    Rows q, kv, q_result, kv_result;
    int64_t q_shift = 0, kv_shift = 0;  // row of the result minus row of the operand
    HeadRange heads;
    bool operator==(const Operands& other) const;
  };

  const Buffer& buffer(int32_t index) const { return context_.pass->buffers[static_cast<size_t>(index)]; }
  const Transfer& transfer(int32_t index) const {
    return context_.pass->transfers[static_cast<size_t>(index)];
  }
  std::span<const PlanPiece> pieces(int32_t buffer_index) const {
    return context_.window->list(buffer(buffer_index).pieces);
  }
  bool lent(const Transfer& transfer) const { return sharing_.in_place(transfer.into); }
  void plan_lifetimes();
  void revive(int32_t index);
  Rows rows(int32_t buffer_index) const;
  // The memory that holds a piece's rows, and the row of `position` in it.
  std::pair<Rows, int64_t> locate(int32_t buffer_index, int32_t document, int64_t position) const;
  int32_t owner_of(int32_t buffer_index, int32_t document, int64_t position) const;
  bool contiguous(const Transfer& transfer, int32_t buffer_index) const;
  void copy_rows(const Transfer& transfer, int32_t buffer_index, float* packed, bool pack);
  std::span<const std::byte> write_notice(int32_t index);
  void read_notice(int32_t index);

  std::pair<AttentionTile, Operands> resolve(const Tile& tile) const;
  void call(std::span<AttentionTile> tiles, const Operands& operands);
  void call_forward(std::span<const AttentionTile> tiles, const Operands& operands, HeadRange heads);
  void call_backward(std::span<const AttentionTile> tiles, const Operands& operands, HeadRange heads);
  double cpu_now() const;

  const StepPlan& plan_;
  Communicator& group_;
  MemoryCounter& counter_;
  const KernelOptions options_;
  std::vector<WindowTensors> windows_;

  PassContext context_;
  KeySharing sharing_;
  std::vector<std::vector<int32_t>> births_, deaths_;  // buffers by op of this rank's program
  std::map<int32_t, CountedFloats> memory_;            // of buffers that are not home
  std::map<int32_t, CountedFloats> staging_;           // packed messages, by transfer
  std::map<int32_t, std::vector<uint64_t>> notices_;   // offsets of a lent transfer's pieces
  std::map<std::pair<int32_t, int32_t>, Lent> lent_;   // by (buffer, its piece)
  std::vector<char> filled_by_message_;                // by buffer
  double attend_seconds_ = 0, merge_seconds_ = 0;
  int64_t bytes_sent_ = 0;
  int64_t bytes_in_place_ = 0;
};

}  // namespace counterpoise
