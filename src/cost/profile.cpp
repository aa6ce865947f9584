// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/profile.h"

#include <filesystem>

#include "base/files.h"
#include "cost/built_in_profiles.h"
#include "cost/document_profile.h"
#include "cost/json_fields.h"
#include "cost/kernel_profile_json.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"

namespace counterpoise {
namespace {

constexpr const char* kSchema = "counterpoise/profile";
constexpr int64_t kVersion = 1;

ProfileInfo parse_info(const JsonFields& file) {
  ProfileInfo info{file.text("name"),   file.text("source"), file.text("unit"),
                   file.text("device"), file.text("kernel"), ""};
  if (info.unit != "seconds" && info.unit != "pairs") file.fail("unit", "must be \"seconds\" or \"pairs\"");
  if (file.has("calibration")) info.calibration = file.object("calibration").dump();
  return info;
}

ProfilePtr parse_documents(ProfileInfo info, const JsonFields& model) {
  const JsonFields curve = model.object("curve"), penalty = model.object("penalty");
  DocumentTables tables{model.positive("flops_per_pair"), LogAxis(curve.ascending("length")),
                        curve.positives("tflops"),        LogAxis(penalty.ascending("length")),
                        LogAxis(penalty.ascending("cp")), {}};
  if (tables.tflops.size() != tables.curve_lengths.size())
    curve.fail("tflops", fmt::format("must have {} entries, one per length", tables.curve_lengths.size()));
  if (tables.penalty_cps.front() != 1) penalty.fail("cp", "must start at 1");
  tables.penalty = penalty.grid("value", tables.penalty_lengths.size(), tables.penalty_cps.size());
  return std::make_shared<DocumentProfile>(std::move(info), std::move(tables));
}

ProfilePtr parse_model(ProfileInfo info, const JsonFields& model) {
  const std::string kind = model.text("kind");
  if (kind == "area") return std::make_shared<AreaProfile>(std::move(info));
  if (kind == "documents") return parse_documents(std::move(info), model);
  if (kind == "calls") return parse_calls(std::move(info), model);
  model.fail("kind", fmt::format("\"{}\" is not one of area, documents, calls", kind));
}

}  // namespace

ProfilePtr parse_profile(std::string_view text, const std::string& file) {
  const nlohmann::ordered_json json = parse_json(text, file);
  const JsonFields fields(json, file);
  fields.require_format(kSchema, kVersion);
  ProfileInfo info = parse_info(fields);
  if (fields.has("links"))
    info.links = links_text(parse_links(fields.object("links").dump(), file + ", links"));
  return parse_model(std::move(info), fields.object("model"));
}

std::string profile_text(const Profile& profile) {
  const ProfileInfo& info = profile.info();
  nlohmann::ordered_json json;
  json["schema"] = kSchema;
  json["version"] = kVersion;
  json["name"] = info.name;
  json["source"] = info.source;
  json["unit"] = info.unit;
  json["device"] = info.device;
  json["kernel"] = info.kernel;
  if (!info.calibration.empty()) json["calibration"] = nlohmann::ordered_json::parse(info.calibration);
  if (!info.links.empty()) json["links"] = nlohmann::ordered_json::parse(info.links);
  json["model"] = nlohmann::ordered_json::parse(profile.model_json());
  return json.dump(1) + "\n";
}

ProfilePtr load_profile(const std::string& name_or_path) {
  if (ProfilePtr profile = built_in_profile(name_or_path)) return profile;
  if (std::filesystem::exists(name_or_path)) return parse_profile(read_file(name_or_path), name_or_path);
  throw_error(ErrorKind::kUsage, "no profile and no file is called '{}'; built in are: {}", name_or_path,
              fmt::join(profile_names(), ", "));
}

void save_profile(const Profile& profile, const std::string& path) {
  write_file(path, profile_text(profile));
}

std::string profile_hash(const Profile& profile) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : profile_text(profile)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return fmt::format("{:016x}", hash);
}

}  // namespace counterpoise
