// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/files.h"
#include "cost/json_fields.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"

namespace counterpoise {
namespace {

constexpr const char* kSchema = "counterpoise/links";
constexpr const char* kProfileSchema = "counterpoise/profile";
constexpr int64_t kVersion = 1;

// clang-format off
constexpr const char* kH200Nccl =
#include "cost/h200_nccl.inc"
;
constexpr const char* kH100SendRecv =
#include "cost/h100_sendrecv.inc"
;
// clang-format on

struct BuiltIn {
  const char* name;
  const char* text;
};
constexpr BuiltIn kBuiltIns[] = {{"h200-nccl", kH200Nccl}, {"h100-sendrecv", kH100SendRecv}};

LinkCurve parse_curve(const JsonFields& json) {
  LinkCurve curve;
  try {
    curve.op = parse_collective(json.text("op"));
  } catch (const Error& error) {
    json.fail("op", error.what());
  }
  curve.ranks = json.count("ranks");
  if (curve.ranks < 2) json.fail("ranks", "must be at least 2");
  curve.smallest = json.number("smallest");
  curve.largest = json.number("largest");
  if (curve.smallest < 0 || curve.smallest > curve.largest)
    json.fail("smallest", "must be from zero to largest");
  for (const std::vector<double>& line : json.rows("lines", 2)) {
    for (const double price : line) json.check_price("lines", price);
    curve.lines.push_back({line[0], line[1]});
  }
  if (json.has("near_bytes")) {
    curve.near_bytes = json.positive("near_bytes");
    curve.far_seconds_per_byte = json.price("far_seconds_per_byte");
  }
  if (curve.lines.empty()) json.fail("lines", "must hold at least one [latency, seconds_per_byte]");
  return curve;
}

LinkLevel parse_level(const JsonFields& json) {
  LinkLevel level{json.text("name"), {}};
  for (const JsonFields& curve : json.objects("curves")) level.curves.push_back(parse_curve(curve));
  return level;
}

Links links_of_profile(const JsonFields& profile, const std::string& file) {
  if (!profile.has("links"))
    profile.fail("links",
                 "is missing: this profile prices no messages; calibrate under mpirun measures them");
  return parse_links(profile.object("links").dump(), file + ", links");
}

nlohmann::ordered_json curve_json(const LinkCurve& curve) {
  nlohmann::ordered_json json;
  json["op"] = collective_name(curve.op);
  json["ranks"] = curve.ranks;
  json["smallest"] = curve.smallest;
  json["largest"] = curve.largest;
  for (const LinkLine& line : curve.lines) json["lines"].push_back({line.latency, line.seconds_per_byte});
  if (curve.far_seconds_per_byte > 0) {
    json["near_bytes"] = curve.near_bytes;
    json["far_seconds_per_byte"] = curve.far_seconds_per_byte;
  }
  return json;
}

}  // namespace

std::vector<std::string> links_names() {
  std::vector<std::string> names;
  for (const BuiltIn& entry : kBuiltIns) names.push_back(entry.name);
  return names;
}

Links load_links(const std::string& name_or_path) {
  for (const BuiltIn& entry : kBuiltIns)
    if (name_or_path == entry.name) return parse_links(entry.text, entry.name);
  if (std::filesystem::exists(name_or_path)) return parse_links(read_file(name_or_path), name_or_path);
  throw_error(ErrorKind::kUsage, "no links and no file are called '{}'; built in are: {}", name_or_path,
              fmt::join(links_names(), ", "));
}

Links parse_links(std::string_view text, const std::string& file) {
  const nlohmann::ordered_json json = parse_json(text, file);
  const JsonFields fields(json, file);
  if (fields.text("schema") == kProfileSchema) return links_of_profile(fields, file);
  fields.require_format(kSchema, kVersion);
  Links links{fields.text("name"), fields.text("source"), fields.text("device"), "", {}};
  if (fields.has("calibration")) links.calibration = fields.object("calibration").dump();
  for (const JsonFields& level : fields.objects("levels")) links.levels.push_back(parse_level(level));
  return links;
}

std::string links_text(const Links& links) {
  nlohmann::ordered_json json;
  json["schema"] = kSchema;
  json["version"] = kVersion;
  json["name"] = links.name;
  json["source"] = links.source;
  json["device"] = links.device;
  if (!links.calibration.empty()) json["calibration"] = nlohmann::ordered_json::parse(links.calibration);
  for (const LinkLevel& level : links.levels) {
    nlohmann::ordered_json curves;
    for (const LinkCurve& curve : level.curves) curves.push_back(curve_json(curve));
    json["levels"].push_back({{"name", level.name}, {"curves", curves}});
  }
  return json.dump(1) + "\n";
}

}  // namespace counterpoise
