// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/kernel_profile.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cost/kernel_profile_json.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr Feature kAllFeatures[] = {Feature::kLaunch,   Feature::kStep,    Feature::kLongest,
                                    Feature::kTile,     Feature::kGroup,   Feature::kBlock,
                                    Feature::kBlockDim, Feature::kPairDim, Feature::kMaskedBlock,
                                    Feature::kQueryRow, Feature::kKeyRow,  Feature::kFarByte};

nlohmann::ordered_json direction_json(const DirectionModel& model) {
  nlohmann::ordered_json json;
  json["tile"] = {{"q", model.tile.q},
                  {"kv", model.tile.kv},
                  {"q_block", model.tile.q_block},
                  {"kv_block", model.tile.kv_block},
                  {"near_bytes", model.tile.near_bytes}};
  json["sharpness"] = model.sharpness;
  for (const Feature feature : kAllFeatures)
    json["seconds_per"][feature_name(feature)] = model.seconds_per[static_cast<size_t>(feature)];
  json["measured"] = {{"low", model.measured_low}, {"high", model.measured_high}};
  if (model.residual_width == 0) return json;
  json["residual_width"] = model.residual_width;
  for (const DirectionModel::Residual& residual : model.residuals) {
    nlohmann::ordered_json row = residual.place;
    row.push_back(residual.log_ratio);
    json["residuals"].push_back(row);
  }
  return json;
}

constexpr double kLargestResidual = 50;  // ln(measured / modelled): a factor of 10^21

DirectionModel parse_direction(const JsonFields& json) {
  DirectionModel model;
  const JsonFields tile = json.object("tile"), seconds = json.object("seconds_per"),
                   measured = json.object("measured");
  constexpr int64_t kMostBytes = int64_t{1} << 50;
  model.tile = {tile.count("q"), tile.count("kv"), tile.natural("q_block"), tile.natural("kv_block"),
                tile.natural("near_bytes", kMostBytes)};
  model.sharpness = json.number("sharpness");
  if (model.sharpness < 1 || model.sharpness > 64) json.fail("sharpness", "must be from 1 to 64");
  for (const Feature feature : kAllFeatures) {
    model.seconds_per[static_cast<size_t>(feature)] = seconds.price(feature_name(feature));
  }
  if (std::ranges::all_of(model.seconds_per, [](double value) { return value == 0; }))
    json.fail("seconds_per", "must hold a price above zero");
  const auto place = [](const JsonFields& from, const std::string& name, CallPlace& into) {
    const std::vector<double> numbers = from.numbers(name, into.size());
    std::copy(numbers.begin(), numbers.end(), into.begin());
  };
  place(measured, "low", model.measured_low);
  place(measured, "high", model.measured_high);
  for (size_t i = 0; i < model.measured_low.size(); ++i)
    if (model.measured_low[i] > model.measured_high[i])
      measured.fail("low", fmt::format("entry {} must not exceed that of high", i));
  if (!json.has("residual_width")) return model;
  model.residual_width = json.positive("residual_width");
  for (const std::vector<double>& row : json.rows("residuals", model.measured_low.size() + 1)) {
    DirectionModel::Residual residual;
    std::copy(row.begin(), row.end() - 1, residual.place.begin());
    residual.log_ratio = row.back();
    if (std::abs(residual.log_ratio) > kLargestResidual)
      json.fail("residuals", fmt::format("a logarithm of measured / modelled is {}", residual.log_ratio));
    model.residuals.push_back(residual);
  }
  return model;
}

}  // namespace

double KernelProfile::piece_time(int64_t length, int64_t cp) const {
  CP_CHECK(length >= 0 && cp >= 1);
  double sum = 0;
  for (int64_t rank = 0; rank < cp; ++rank)
    for (const WorkShape& tile : zigzag_share(length, cp, rank, shape_)) sum += model_.tile_seconds(tile);
  return sum / static_cast<double>(cp);
}

double KernelProfile::call_time(std::span<const CallTile> call, Direction direction) const {
  std::vector<WorkShape> tiles;
  tiles.reserve(call.size());
  for (const CallTile& tile : call) tiles.push_back(tile.work);
  return call_seconds(tiles, direction);
}

bool KernelProfile::extrapolated(int64_t length, int64_t cp) const {
  for (const int64_t rank : {int64_t{0}, cp - 1})
    for (const WorkShape& tile : zigzag_share(length, cp, rank, shape_))
      if (model_.tile_extrapolated(tile)) return true;
  return false;
}

std::string KernelProfile::model_json() const {
  nlohmann::ordered_json json;
  json["kind"] = "calls";
  json["shape"] = {{"heads", shape_.heads},
                   {"kv_heads", shape_.kv_heads},
                   {"head_dim", shape_.head_dim},
                   {"v_head_dim", shape_.v_head_dim},
                   {"element_bytes", shape_.element_bytes}};
  json["forward"] = direction_json(model_.model(Direction::kForward));
  if (model_.has_backward()) json["backward"] = direction_json(model_.model(Direction::kBackward));
  return json.dump();
}

ProfilePtr parse_calls(ProfileInfo info, const JsonFields& model) {
  const JsonFields shape = model.object("shape");
  constexpr int64_t kMost = 1 << 20;
  const CostShape heads{shape.count("heads", kMost), shape.count("kv_heads", kMost),
                        shape.count("head_dim", kMost), shape.count("v_head_dim", kMost),
                        shape.count("element_bytes", 16)};
  if (heads.heads % heads.kv_heads != 0)
    shape.fail("kv_heads", fmt::format("must divide heads = {}", heads.heads));
  std::optional<DirectionModel> backward;
  if (model.has("backward")) backward = parse_direction(model.object("backward"));
  return std::make_shared<KernelProfile>(
      std::move(info), CostModel(parse_direction(model.object("forward")), std::move(backward)), heads);
}

KernelProfilePtr with_links(const KernelProfile& profile, const Links& links) {
  ProfileInfo info = profile.info();
  info.links = links_text(links);
  return std::make_shared<KernelProfile>(std::move(info), profile.model(), profile.shape());
}

KernelProfilePtr load_kernel_profile(const std::string& name_or_path) {
  const auto profile = std::dynamic_pointer_cast<const KernelProfile>(load_profile(name_or_path));
  if (!profile)
    throw_error(ErrorKind::kUsage,
                "profile '{}' prices documents, not kernel calls; take h100-varlen, a100 or a file that "
                "calibrate wrote",
                name_or_path);
  return profile;
}

}  // namespace counterpoise
