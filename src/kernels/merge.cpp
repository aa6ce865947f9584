// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "counterpoise/attention.h"
#include "counterpoise/error.h"
#include "kernels/dtype.h"

namespace counterpoise {
namespace {

void check_pair(const ConstTensorView& out, const ConstTensorView& lse, const char* name) {
  if (out.dtype != DType::kFloat32 || lse.dtype != DType::kFloat32)
    throw_error(ErrorKind::kUsage, "partial {}: out and lse must be float32 until the last merge", name);
  if (out.tokens != lse.tokens || out.heads != lse.heads || lse.dim != 1)
    throw_error(ErrorKind::kUsage, "partial {}: out is [{}, {}, {}] but lse [{}, {}, {}]; they must agree",
                name, out.tokens, out.heads, out.dim, lse.tokens, lse.heads, lse.dim);
}

// lse = max + log(sum of exp(lse_i - max)); each side weighs exp(lse_i - lse).
void merge_row(float* out_a, float& lse_a, const float* out_b, float lse_b, int64_t dim) {
  if (lse_b == -std::numeric_limits<float>::infinity()) return;
  const double a = lse_a, b = lse_b, top = std::fmax(a, b);
  const double lse = top + std::log(std::exp(a - top) + std::exp(b - top));
  const float weight_b = static_cast<float>(std::exp(b - lse));
  const float weight_a = static_cast<float>(std::exp(a - lse));
  if (lse_a == -std::numeric_limits<float>::infinity()) {  // whatever out_a holds weighs nothing
    for (int64_t i = 0; i < dim; ++i) out_a[i] = weight_b * out_b[i];
  } else {
    for (int64_t i = 0; i < dim; ++i) out_a[i] = weight_a * out_a[i] + weight_b * out_b[i];
  }
  lse_a = static_cast<float>(lse);
}

}  // namespace

void merge_partials(TensorView out_a, TensorView lse_a, ConstTensorView out_b, ConstTensorView lse_b) {
  check_pair(out_a, lse_a, "a");
  check_pair(out_b, lse_b, "b");
  if (out_a.tokens != out_b.tokens || out_a.heads != out_b.heads || out_a.dim != out_b.dim)
    throw_error(ErrorKind::kUsage, "cannot merge partials of [{}, {}, {}] and [{}, {}, {}]", out_a.tokens,
                out_a.heads, out_a.dim, out_b.tokens, out_b.heads, out_b.dim);
  for (int64_t token = 0; token < out_a.tokens; ++token) {
    for (int64_t head = 0; head < out_a.heads; ++head) {
      merge_row(static_cast<float*>(row_address(out_a, token, head)),
                *static_cast<float*>(row_address(lse_a, token, head)),
                static_cast<const float*>(row_address(out_b, token, head)),
                *static_cast<const float*>(row_address(lse_b, token, head)), out_a.dim);
    }
  }
}

}  // namespace counterpoise
