// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counterpoise/area.h"

// Exact attention on the CPU, forward and backward, for tiles of packed documents.
namespace counterpoise {

enum class DType { kFloat32, kBFloat16, kFloat16 };
int64_t dtype_bytes(DType dtype);
std::string_view dtype_name(DType dtype);

// A packed tensor [tokens, heads, dim] that somebody else owns. Strides count elements; dim is contiguous.
// `data` needs only the alignment of one element. lse is such a tensor of dim 1 and float32.
struct ConstTensorView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  int64_t tokens = 0, heads = 0, dim = 0;
  int64_t token_stride = 0, head_stride = 0;
};

struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  int64_t tokens = 0, heads = 0, dim = 0;
  int64_t token_stride = 0, head_stride = 0;

  operator ConstTensorView() const {  // NOLINT: a view may always be read
    return {data, dtype, tokens, heads, dim, token_stride, head_stride};
  }
};

// Contiguous [tokens][heads][dim].
TensorView packed_view(void* data, DType dtype, int64_t tokens, int64_t heads, int64_t dim);
ConstTensorView packed_view(const void* data, DType dtype, int64_t tokens, int64_t heads, int64_t dim);
inline TensorView packed_view(float* data, int64_t tokens, int64_t heads, int64_t dim) {
  return packed_view(static_cast<void*>(data), DType::kFloat32, tokens, heads, dim);
}
inline ConstTensorView packed_view(const float* data, int64_t tokens, int64_t heads, int64_t dim) {
  return packed_view(static_cast<const void*>(data), DType::kFloat32, tokens, heads, dim);
}
// lse as FlashAttention lays it out: contiguous [heads][tokens].
TensorView lse_view(float* data, int64_t tokens, int64_t heads);
ConstTensorView lse_view(const float* data, int64_t tokens, int64_t heads);

// Query head h reads key/value head h / (heads / kv_heads).
struct HeadShape {
  int64_t heads = 1;
  int64_t kv_heads = 1;  // divides heads
  int64_t head_dim = 64;
  int64_t v_head_dim = 0;    // 0: head_dim
  double softmax_scale = 0;  // 0: 1 / sqrt(head_dim)

  int64_t value_dim() const { return v_head_dim > 0 ? v_head_dim : head_dim; }
  double scale() const;
};

// One rectangle of work: queries q and keys kv are absolute positions of one document; position q.begin is
// stored in row q_row of q, out, lse, dout and dq, position kv.begin in row kv_row of k, v, dk and dv. The
// mask is decided by positions alone, so a shard "rows [a, b) against keys [0, n)" needs no alignment rule.
// An empty q or heads is no work; an empty kv is legal and contributes the identity (0, -inf).
struct AttentionTile {
  Range q;
  Range kv;
  Range heads;  // query heads
  int64_t q_row = 0;
  int64_t kv_row = 0;
};

// Self-attention of packed documents: cu_seqlens holds the offsets of the documents and the total.
std::vector<AttentionTile> tiles_of_documents(std::span<const int64_t> cu_seqlens, int64_t heads);

// 2 flops per multiply-add of unmasked pairs: forward 2 area (head_dim + v_head_dim) per head, backward
// 2 area (3 head_dim + 2 v_head_dim).
double attention_flops(std::span<const AttentionTile> tiles, const HeadShape& shape, Mask mask,
                       bool backward);

enum class Isa { kAuto, kPortable, kAvx2, kAvx512, kAvx512Bf16, kAmx };
std::string_view isa_name(Isa isa);
Isa parse_isa(std::string_view name);  // kUsage with the legal names
std::vector<Isa> built_isas();         // what this build holds, fastest last
std::vector<Isa> available_isas();  // of those, what runs on this CPU and system, fastest last; never empty
// What runs for tensors of one type when `isa` is chosen: AVX512_BF16 and AMX multiply bfloat16 alone; where
// q, k, v or dout hold anything else, AVX-512 computes in float32.
Isa isa_of_storage(Isa isa, DType dtype);
std::string cpu_name();  // the processor's own name, for reports

struct AttentionOptions {
  Isa isa = Isa::kAuto;  // forcing one that is not built: kNotBuilt; that this CPU lacks: kInfeasible
  int threads = 1;  // <= 0: every core this process may use. The result does not depend on it, bit for bit
  // Forward only: merge into the (out, lse) that the rows already hold instead of overwriting them.
  bool accumulate = false;
};

// What ran.
struct AttentionRun {
  Isa isa = Isa::kPortable;
  int threads = 1;
};

struct ForwardTensors {
  ConstTensorView q;  // [q rows, heads, head_dim]
  ConstTensorView k;  // [kv rows, kv_heads, head_dim]
  ConstTensorView v;  // [kv rows, kv_heads, v_head_dim]
  TensorView out;     // [q rows, heads, v_head_dim]; float32 when accumulating
  TensorView lse;     // [q rows, heads, 1] float32, natural logarithm; -inf where no key was visible
};

// out = softmax(scale q k^T) v over the visible keys of all tiles that hold the row, and its lse. Rows and
// heads in no tile are not touched. Tiles may share q rows (their keys add up) and kv rows. Softmax and sums
// are float32, out is rounded once. Throws kUsage for shapes that do not fit, naming the tensor and the rule.
AttentionRun attention_forward(std::span<const AttentionTile> tiles, const HeadShape& shape, Mask mask,
                               const ForwardTensors& tensors, const AttentionOptions& options = {});

struct BackwardTensors {
  ConstTensorView q, k, v;
  ConstTensorView out;    // of the whole row (all partials merged), as is lse
  ConstTensorView lse;    // float32
  ConstTensorView dout;   // [q rows, heads, v_head_dim]
  TensorView dq, dk, dv;  // float32, shaped like q, k, v; the gradients of the tiles are added to them
  // Optional: [q rows, heads, 1] float32, sum over columns of dout * out. All that backward takes from `out`,
  // which is then not read and may be left empty.
  ConstTensorView delta = {};
};

// Adds the gradients of the tiles' pairs. Deterministic, as forward is.
AttentionRun attention_backward(std::span<const AttentionTile> tiles, const HeadShape& shape, Mask mask,
                                const BackwardTensors& tensors, const AttentionOptions& options = {});

// Merges partial b into partial a, row by row (all float32). (0, -inf) is the identity.
void merge_partials(TensorView out_a, TensorView lse_a, ConstTensorView out_b, ConstTensorView lse_b);

}  // namespace counterpoise
