// SPDX-License-Identifier: Apache-2.0
// A C interface of the kernels for bench/kernels.py, so that they and their peers are timed in one process.
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "counterpoise/attention.h"
#include "kernels_account.h"
#include "kernels_peak.h"
#include "kernels_peak_amx.h"

using namespace counterpoise;

namespace {

thread_local std::string last_error;

// What bench/kernels.py passes: tensors [tokens, heads, dim], contiguous; tiles as eight integers each.
struct Call {
  int64_t tokens, heads, kv_heads, head_dim;
  int64_t dtype;   // 0 float32, 1 bfloat16, 2 float16
  int64_t causal;  // else full
  int64_t tile_count;
  const int64_t* tiles;  // q begin, q end, kv begin, kv end, head begin, head end, q row, kv row
  int64_t threads;
  const char* isa;
  void *q, *k, *v, *out, *dout;
  float *lse, *dq, *dk, *dv;
};

std::vector<AttentionTile> tiles_of(const Call& c) {
  std::vector<AttentionTile> tiles;
  for (int64_t i = 0; i < c.tile_count; ++i) {
    const int64_t* t = c.tiles + 8 * i;
    tiles.push_back({{t[0], t[1]}, {t[2], t[3]}, {t[4], t[5]}, t[6], t[7]});
  }
  return tiles;
}

TensorView view(const Call& c, void* data, int64_t heads, bool gradient = false) {
  return packed_view(data, gradient ? DType::kFloat32 : static_cast<DType>(c.dtype), c.tokens, heads,
                     c.head_dim);
}

HeadShape shape_of(const Call& c) {
  return {c.heads, c.kv_heads, c.head_dim};
}
Mask mask_of(const Call& c) {
  return c.causal ? Mask::causal() : Mask::full();
}
AttentionOptions options_of(const Call& c) {
  return {parse_isa(c.isa), static_cast<int>(c.threads), false};
}

ForwardTensors forward_tensors(const Call& c) {
  return {view(c, c.q, c.heads), view(c, c.k, c.kv_heads), view(c, c.v, c.kv_heads), view(c, c.out, c.heads),
          lse_view(c.lse, c.tokens, c.heads)};
}
BackwardTensors backward_tensors(const Call& c) {
  return {view(c, c.q, c.heads),        view(c, c.k, c.kv_heads),           view(c, c.v, c.kv_heads),
          view(c, c.out, c.heads),      lse_view(c.lse, c.tokens, c.heads), view(c, c.dout, c.heads),
          view(c, c.dq, c.heads, true), view(c, c.dk, c.kv_heads, true),    view(c, c.dv, c.kv_heads, true)};
}

template <typename F>
int guarded(F work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}

}  // namespace

extern "C" {

const char* cp_last_error() {
  return last_error.c_str();
}

const char* cp_cpu() {
  static const std::string name = cpu_name();
  return name.c_str();
}

// The set that kAuto or the forced name resolves to for tensors of this type; null with cp_last_error() when
// it cannot run.
const char* cp_isa(const char* requested, int64_t dtype) {
  const char* name = nullptr;
  guarded([&] {
    AttentionOptions options;
    options.isa = parse_isa(requested);
    const TensorView none = packed_view(static_cast<void*>(nullptr), static_cast<DType>(dtype), 0, 1, 64);
    const TensorView lse = lse_view(static_cast<float*>(nullptr), 0, 1);
    name =
        isa_name(attention_forward({}, {}, Mask::full(), {none, none, none, none, lse}, options).isa).data();
  });
  return name;
}

// Flops of a burst of register-only multiply-adds of this set's vectors or tiles.
double cp_peak(const char* isa, int64_t rounds) {
  if (std::strcmp(isa, "amx") == 0) return bench::tile_peak_amx(rounds);
  if (std::strcmp(isa, "avx512_bf16") == 0) return bench::dot_peak_avx512_bf16(rounds);
  return std::strcmp(isa, "avx512") == 0 ? bench::fma_peak_avx512(rounds) : bench::fma_peak_avx2(rounds);
}

double cp_flops(const Call* c, int backward) {
  return attention_flops(tiles_of(*c), shape_of(*c), mask_of(*c), backward != 0);
}

int cp_forward(const Call* c) {
  return guarded([&] {
    attention_forward(tiles_of(*c), shape_of(*c), mask_of(*c), forward_tensors(*c), options_of(*c));
  });
}

int cp_backward(const Call* c) {
  return guarded([&] {
    attention_backward(tiles_of(*c), shape_of(*c), mask_of(*c), backward_tensors(*c), options_of(*c));
  });
}

// One run on one thread, its time by parts. Writes up to `room` of them and returns how many there are.
int64_t cp_account(const Call* c, int backward, int64_t room, const char** names, double* seconds,
                   double* flops) {
  const std::vector<AttentionTile> tiles = tiles_of(*c);
  HeadShape shape = shape_of(*c);
  shape.softmax_scale = shape.scale();
  shape.v_head_dim = shape.value_dim();
  const AttentionProblem problem{tiles, shape, mask_of(*c), 1, false};
  const Isa isa = parse_isa(c->isa);
  const std::vector<bench::AccountPart> parts =
      backward ? bench::Account::of_backward(isa, problem, backward_tensors(*c))
               : bench::Account::of_forward(isa, problem, forward_tensors(*c));
  for (size_t i = 0; i < parts.size() && static_cast<int64_t>(i) < room; ++i) {
    names[i] = parts[i].name;
    seconds[i] = parts[i].seconds;
    flops[i] = parts[i].flops;
  }
  return static_cast<int64_t>(parts.size());
}

}  // extern "C"
