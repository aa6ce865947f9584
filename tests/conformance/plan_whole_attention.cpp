// SPDX-License-Identifier: Apache-2.0
#include "plan_whole_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "counterpoise/random.h"

namespace counterpoise::testing_plan {
namespace {

constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

void whole_forward(WholeDocument& document, const AttentionShape& shape) {
  const int64_t n = document.length, d = shape.head_dim, dv = shape.v_head_dim;
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  for (int64_t h = 0; h < shape.heads; ++h) {
    const int64_t kh = h / (shape.heads / shape.kv_heads);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t qi = i * shape.heads + h;
      std::vector<double> score(n, kMinusInf);
      double top = kMinusInf, sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        if (!shape.mask.visible(i, j)) continue;
        score[j] = scale * dot(&document.q[qi * d], &document.k[(j * shape.kv_heads + kh) * d], d);
        top = std::max(top, score[j]);
      }
      for (int64_t j = 0; j < n; ++j) sum += score[j] == kMinusInf ? 0 : std::exp(score[j] - top);
      document.lse[qi] = sum == 0 ? kMinusInf : top + std::log(sum);
      for (int64_t j = 0; j < n; ++j) {
        if (score[j] == kMinusInf) continue;
        add(&document.out[qi * dv], &document.v[(j * shape.kv_heads + kh) * dv],
            std::exp(score[j] - document.lse[qi]), dv);
      }
      document.delta[qi] = dot(&document.out[qi * dv], &document.dout[qi * dv], dv);
    }
  }
}

void whole_backward(WholeDocument& document, const AttentionShape& shape) {
  const int64_t n = document.length, d = shape.head_dim, dv = shape.v_head_dim;
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  for (int64_t h = 0; h < shape.heads; ++h) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (!shape.mask.visible(i, j)) continue;
        const int64_t qi = i * shape.heads + h, kj = j * shape.kv_heads + h / (shape.heads / shape.kv_heads);
        const double p =
            std::exp(scale * dot(&document.q[qi * d], &document.k[kj * d], d) - document.lse[qi]);
        const double dp = dot(&document.dout[qi * dv], &document.v[kj * dv], dv);
        const double ds = scale * p * (dp - document.delta[qi]);
        add(&document.dq[qi * d], &document.k[kj * d], ds, d);
        add(&document.dk[kj * d], &document.q[qi * d], ds, d);
        add(&document.dv[kj * dv], &document.dout[qi * dv], p, dv);
      }
    }
  }
}

}  // namespace

std::vector<WholeDocument> whole_attention(const std::vector<PlanDocument>& documents,
                                           const AttentionShape& shape, uint64_t seed) {
  RandomStream random(seed);
  const auto draw = [&](int64_t n) {
    std::vector<double> values(n);
    for (double& value : values) value = random.normal();
    return values;
  };
  std::vector<WholeDocument> all;
  for (const PlanDocument& known : documents) {
    WholeDocument& document = all.emplace_back();
    const int64_t q_rows = known.length * shape.heads, kv_rows = known.length * shape.kv_heads;
    document.length = known.length;
    document.q = draw(q_rows * shape.head_dim);
    document.k = draw(kv_rows * shape.head_dim);
    document.v = draw(kv_rows * shape.v_head_dim);
    document.dout = draw(q_rows * shape.v_head_dim);
    document.out.assign(q_rows * shape.v_head_dim, 0);
    document.lse.assign(q_rows, kMinusInf);
    document.delta.assign(q_rows, 0);
    document.dq.assign(document.q.size(), 0);
    document.dk.assign(document.k.size(), 0);
    document.dv.assign(document.v.size(), 0);
    whole_forward(document, shape);
    whole_backward(document, shape);
  }
  return all;
}

}  // namespace counterpoise::testing_plan
