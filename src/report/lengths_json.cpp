// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/lengths_report.h"

namespace counterpoise {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json quantiles_json(const LengthSummary& summary) {
  Json json = Json::object();
  for (const auto& [p, length] : summary.quantiles)
    json[p == 1 ? "max" : fmt::format("p{:g}", 100 * p)] = length;
  return json;
}

Json longest_json(const LengthSummary& summary) {
  if (!summary.longest) return nullptr;
  const LengthSummary::Longest& longest = *summary.longest;
  return {{"documents", longest.documents}, {"tokens", longest.tokens}, {"squares", longest.squares}};
}

Json tail_json(const LengthSummary& summary) {
  if (!summary.tail) return {{"length", nullptr}, {"length_squared", nullptr}, {"reason", summary.no_tail}};
  const LengthSummary::Tail& tail = *summary.tail;
  return {{"length", tail.index},
          {"length_squared", tail.squared_index},
          {"k", or_null(tail.k)},
          {"threshold", tail.threshold}};
}

Json histogram_json(const LengthSummary& summary) {
  Json json = Json::array();
  for (const LengthSummary::Bin& bin : summary.histogram)
    json.push_back({{"lo", bin.lo},
                    {"hi", bin.hi},
                    {"documents", bin.documents},
                    {"tokens", bin.tokens},
                    {"squares", bin.squares}});
  return json;
}

}  // namespace

Json lengths_json(const Lengths& lengths, const LengthSummary& summary) {
  Json json;
  json["source"] = lengths.source;
  json["format"] = lengths.format;
  json["provenance"] = lengths.provenance.empty() ? Json(nullptr) : Json(lengths.provenance);
  json["documents"] = or_null(summary.documents);
  json["tokens"] = or_null(summary.tokens);
  json["zero_length"] = or_null(summary.zero_length);
  json["zero_length_share"] = summary.zero_length_share;
  json["mean"] = summary.mean;
  json["mean_square"] = summary.mean_square;
  json["min"] = summary.min;
  json["max"] = summary.max;
  json["quantiles"] = quantiles_json(summary);
  json["longest_1_percent"] = longest_json(summary);
  json["cv"] = {{"length", or_null(summary.cv)}, {"length_squared", or_null(summary.squared_cv)}};
  json["tail_index"] = tail_json(summary);
  json["histogram"] = histogram_json(summary);
  return json;
}

}  // namespace counterpoise
