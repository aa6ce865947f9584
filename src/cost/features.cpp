// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "cost/blocks.h"
#include "counterpoise/cost_model.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

double& at(FeatureVector& features, Feature feature) {
  return features[static_cast<size_t>(feature)];
}

double tensor_bytes(std::span<const WorkShape> tiles) {
  double bytes = 0;
  for (const WorkShape& work : tiles) {
    const int64_t kv_rows = work.new_kv_rows < 0 ? work.kv_rows : work.new_kv_rows;
    const int64_t rows = work.shape.heads * work.q_rows + work.shape.kv_heads * kv_rows;
    const int64_t row_bytes = (work.shape.head_dim + work.shape.v_head_dim) * work.shape.element_bytes;
    bytes += static_cast<double>(rows) * static_cast<double>(row_bytes);
  }
  return bytes;
}

void add_tile(FeatureVector& sum, const WorkShape& work, KernelTile tile) {
  if (work.area == 0) return;
  const BlockCounts steps = count_blocks(work, {tile.q, tile.kv});
  const KernelTile block{tile.q_block > 0 ? tile.q_block : tile.q,
                         tile.kv_block > 0 ? tile.kv_block : tile.kv};
  const BlockCounts counts = count_blocks(work, block);
  const int64_t new_kv_rows = work.new_kv_rows < 0 ? work.kv_rows : work.new_kv_rows;
  const double heads = static_cast<double>(work.shape.heads);
  const double dims = static_cast<double>(work.shape.head_dim + work.shape.v_head_dim);
  at(sum, Feature::kLongest) =
      std::max(at(sum, Feature::kLongest), static_cast<double>(counts.longest) * dims);
  at(sum, Feature::kTile) += heads;
  at(sum, Feature::kGroup) += heads * static_cast<double>(counts.groups);
  at(sum, Feature::kBlock) += heads * static_cast<double>(counts.blocks);
  at(sum, Feature::kBlockDim) += heads * static_cast<double>(steps.blocks) * dims;
  at(sum, Feature::kPairDim) += heads * static_cast<double>(work.area) * dims;
  at(sum, Feature::kMaskedBlock) += heads * static_cast<double>(counts.masked);
  at(sum, Feature::kQueryRow) += heads * static_cast<double>(work.q_rows) * dims;
  at(sum, Feature::kKeyRow) += static_cast<double>(work.shape.kv_heads * new_kv_rows) * dims;
}

}  // namespace

const char* feature_name(Feature feature) {
  static constexpr const char* kNames[kFeatures] = {"launch",       "step",      "longest",   "tile",
                                                    "group",        "block",     "block_dim", "pair_dim",
                                                    "masked_block", "query_row", "key_row",   "far_byte"};
  return kNames[static_cast<size_t>(feature)];
}

FeatureVector call_features(std::span<const WorkShape> tiles, int64_t steps, KernelTile tile) {
  FeatureVector features{};
  at(features, Feature::kLaunch) = 1;
  at(features, Feature::kStep) = static_cast<double>(steps - 1);
  for (const WorkShape& work : tiles) add_tile(features, work, tile);
  if (tile.near_bytes > 0)
    at(features, Feature::kFarByte) =
        std::max(0.0, tensor_bytes(tiles) - static_cast<double>(tile.near_bytes));
  return features;
}

CallPlace call_place(std::span<const WorkShape> tiles) {
  double pairs = 0, rows = 0, keys = 0, heads = 0, count = 0;
  for (const WorkShape& work : tiles) {
    if (work.area == 0) continue;
    const double q = static_cast<double>(work.q_rows), kv = static_cast<double>(work.kv_rows);
    pairs += q * kv;
    rows += q;
    keys += kv;
    heads += static_cast<double>(work.shape.heads);
    count += 1;
  }
  if (count == 0) return {};
  return {std::log2(pairs / count) / 2, std::log2(heads / count), std::log2(keys / rows), std::log2(count)};
}

}  // namespace counterpoise
