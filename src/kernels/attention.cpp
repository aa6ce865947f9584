// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/attention.h"

#include <initializer_list>

#include "counterpoise/error.h"
#include "counterpoise/parallel.h"
#include "kernels/backend.h"

namespace counterpoise {
namespace {

void check_shape(const HeadShape& shape) {
  if (shape.heads < 1 || shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0)
    throw_error(ErrorKind::kUsage, "{} heads cannot share {} key/value heads: kv_heads must divide heads",
                shape.heads, shape.kv_heads);
  if (shape.head_dim < 1 || shape.v_head_dim < 0)
    throw_error(ErrorKind::kUsage, "head_dim {} and v_head_dim {} must be positive", shape.head_dim,
                shape.v_head_dim);
}

void check_tensor(const ConstTensorView& t, const char* name, int64_t tokens, int64_t heads, int64_t dim) {
  if (t.tokens != tokens || t.heads != heads || t.dim != dim)
    throw_error(ErrorKind::kUsage, "{} is [{}, {}, {}] but must be [{}, {}, {}]", name, t.tokens, t.heads,
                t.dim, tokens, heads, dim);
  if (!t.data && tokens > 0) throw_error(ErrorKind::kUsage, "{} has {} tokens but no data", name, tokens);
}

void check_float(const ConstTensorView& t, const char* name) {
  if (t.dtype != DType::kFloat32)
    throw_error(ErrorKind::kUsage, "{} is {} but must be float32", name, dtype_name(t.dtype));
}

void check_tiles(std::span<const AttentionTile> tiles, const HeadShape& shape, int64_t q_rows,
                 int64_t kv_rows) {
  for (size_t i = 0; i < tiles.size(); ++i) {
    const AttentionTile& tile = tiles[i];
    if (tile.q.empty() || tile.heads.empty()) continue;
    if (tile.q_row < 0 || tile.q_row > q_rows - tile.q.size())
      throw_error(ErrorKind::kUsage, "tile {}: rows [{}, {}) lie outside the {} query rows", i, tile.q_row,
                  tile.q_row + tile.q.size(), q_rows);
    if (!tile.kv.empty() && (tile.kv_row < 0 || tile.kv_row > kv_rows - tile.kv.size()))
      throw_error(ErrorKind::kUsage, "tile {}: rows [{}, {}) lie outside the {} key rows", i, tile.kv_row,
                  tile.kv_row + tile.kv.size(), kv_rows);
    if (tile.heads.begin < 0 || tile.heads.end > shape.heads)
      throw_error(ErrorKind::kUsage, "tile {}: heads [{}, {}) lie outside [0, {})", i, tile.heads.begin,
                  tile.heads.end, shape.heads);
  }
}

void check_inputs(const HeadShape& shape, const ConstTensorView& q, const ConstTensorView& k,
                  const ConstTensorView& v) {
  check_shape(shape);
  check_tensor(q, "q", q.tokens, shape.heads, shape.head_dim);
  check_tensor(k, "k", k.tokens, shape.kv_heads, shape.head_dim);
  check_tensor(v, "v", k.tokens, shape.kv_heads, shape.value_dim());
}

HeadShape resolved(HeadShape shape) {
  shape.softmax_scale = shape.scale();
  shape.v_head_dim = shape.value_dim();
  return shape;
}

// The set that runs for these operands of products.
Isa isa_for(Isa requested, std::initializer_list<const ConstTensorView*> operands) {
  Isa isa = resolve_isa(requested);
  for (const ConstTensorView* t : operands) isa = isa_of_storage(isa, t->dtype);
  return isa;
}

}  // namespace

AttentionRun attention_forward(std::span<const AttentionTile> tiles, const HeadShape& shape, Mask mask,
                               const ForwardTensors& tensors, const AttentionOptions& options) {
  check_inputs(shape, tensors.q, tensors.k, tensors.v);
  check_tensor(tensors.out, "out", tensors.q.tokens, shape.heads, shape.value_dim());
  check_tensor(tensors.lse, "lse", tensors.q.tokens, shape.heads, 1);
  check_float(tensors.lse, "lse");
  if (options.accumulate) check_float(tensors.out, "out, to accumulate into,");
  check_tiles(tiles, shape, tensors.q.tokens, tensors.k.tokens);

  const AttentionRun run{isa_for(options.isa, {&tensors.q, &tensors.k, &tensors.v}),
                         thread_count(options.threads)};
  backend_of(run.isa)->forward({tiles, resolved(shape), mask, run.threads, options.accumulate}, tensors);
  return run;
}

AttentionRun attention_backward(std::span<const AttentionTile> tiles, const HeadShape& shape, Mask mask,
                                const BackwardTensors& tensors, const AttentionOptions& options) {
  check_inputs(shape, tensors.q, tensors.k, tensors.v);
  if (has_delta(tensors)) {
    check_tensor(tensors.delta, "delta", tensors.q.tokens, shape.heads, 1);
    check_float(tensors.delta, "delta");
  } else {
    check_tensor(tensors.out, "out", tensors.q.tokens, shape.heads, shape.value_dim());
  }
  check_tensor(tensors.dout, "dout", tensors.q.tokens, shape.heads, shape.value_dim());
  check_tensor(tensors.lse, "lse", tensors.q.tokens, shape.heads, 1);
  check_tensor(tensors.dq, "dq", tensors.q.tokens, shape.heads, shape.head_dim);
  check_tensor(tensors.dk, "dk", tensors.k.tokens, shape.kv_heads, shape.head_dim);
  check_tensor(tensors.dv, "dv", tensors.k.tokens, shape.kv_heads, shape.value_dim());
  check_float(tensors.lse, "lse");
  check_float(tensors.dq, "dq");
  check_float(tensors.dk, "dk");
  check_float(tensors.dv, "dv");
  check_tiles(tiles, shape, tensors.q.tokens, tensors.k.tokens);

  const AttentionRun run{isa_for(options.isa, {&tensors.q, &tensors.k, &tensors.v, &tensors.dout}),
                         thread_count(options.threads)};
  backend_of(run.isa)->backward({tiles, resolved(shape), mask, run.threads, false}, tensors);
  return run;
}

}  // namespace counterpoise
