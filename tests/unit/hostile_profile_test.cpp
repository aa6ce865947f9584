// SPDX-License-Identifier: Apache-2.0
// Profiles and links that a careless hand or a broken disk left: every one is refused with file and field.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"
#include "counterpoise/profile.h"

namespace counterpoise {
namespace {

using Json = nlohmann::ordered_json;
using Change = std::function<void(Json&)>;

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    return error.what();
  }
  return "accepted";
}

std::string profile_refusal(const Change& change) {
  Json json = Json::parse(profile_text(*load_profile("a100")));
  change(json);
  return refusal([&] { parse_profile(json.dump(), "p.json"); });
}

std::string links_refusal(const Change& change) {
  Json json = Json::parse(links_text(load_links("h100-sendrecv")));
  change(json);
  return refusal([&] { parse_links(json.dump(), "l.json"); });
}

void expect_field(const std::string& message, const std::string& start) {
  EXPECT_EQ(message.find(start), 0u) << message << "\nexpected: " << start;
}

TEST(HostileProfile, FieldsAreBounded) {
  const std::pair<Change, const char*> cases[] = {
      {[](Json& p) { p["version"] = 2; }, "p.json: field version: must be 1, is 2"},
      {[](Json& p) { p["schema"] = "counterpoise/links"; },
       "p.json: field schema: must be \"counterpoise/profile\", is \"counterpoise/links\""},
      {[](Json& p) { p["model"]["shape"]["heads"] = int64_t{1} << 62; }, "p.json: field model.shape.heads: "},
      {[](Json& p) { p["model"]["shape"]["head_dim"] = int64_t{1} << 62; },
       "p.json: field model.shape.head_dim: "},
      {[](Json& p) { p["model"]["forward"]["tile"]["q"] = int64_t{1} << 62; },
       "p.json: field model.forward.tile.q: "},
      {[](Json& p) { p["model"]["forward"]["tile"]["kv"] = ~uint64_t{0}; },
       "p.json: field model.forward.tile.kv: must be from 0 to 1073741824, is 18446744073709551615"},
      {[](Json& p) { p["model"]["forward"]["sharpness"] = 1e300; },
       "p.json: field model.forward.sharpness: must be from 1 to 64"},
      {[](Json& p) { p["model"]["forward"]["seconds_per"]["launch"] = 1e300; },
       "p.json: field model.forward.seconds_per.launch: must be at most"},
      {[](Json& p) { p["model"]["forward"]["seconds_per"]["launch"] = -1; },
       "p.json: field model.forward.seconds_per.launch: must not be negative, is -1"},
      {[](Json& p) {
         for (Json& price : p["model"]["forward"]["seconds_per"]) price = 0;
       },
       "p.json: field model.forward.seconds_per: must hold a price above zero"},
      {[](Json& p) { p["model"]["forward"]["measured"]["low"][0] = 1e9; },
       "p.json: field model.forward.measured.low: entry 0 must not exceed that of high"},
      {[](Json& p) {
         p["model"]["forward"]["residual_width"] = 1;
         p["model"]["forward"]["residuals"] = Json::array({{1, 1, 1, 1, 1e300}});
       },
       "p.json: field model.forward.residuals: "}};
  for (const auto& [change, start] : cases) expect_field(profile_refusal(change), start);
}

TEST(HostileProfile, LinksAreBounded) {
  const auto curve = [](Json& links) -> Json& { return links["levels"][0]["curves"][0]; };
  expect_field(links_refusal([&](Json& l) {
                 curve(l)["lines"][0] = {1e308, 1e308};
               }),
               "l.json: field levels[0].curves[0].lines: must be at most");
  expect_field(links_refusal([&](Json& l) {
                 curve(l)["lines"][0] = {-1, 1};
               }),
               "l.json: field levels[0].curves[0].lines: must not be negative");
  expect_field(links_refusal([&](Json& l) { curve(l)["smallest"] = 1e12; }),
               "l.json: field levels[0].curves[0].smallest: must be from zero to largest");
  expect_field(links_refusal([](Json& l) { l["version"] = 2; }), "l.json: field version: must be 1, is 2");
}

// Values are written out again, which recurses: this ended in a crash.
TEST(HostileProfile, DeepNestingIsRefused) {
  const std::string deep = std::string(300000, '[') + std::string(300000, ']');
  std::string text = profile_text(*load_profile("h100-varlen"));
  text.insert(text.find('{') + 1,
              "\"calibration\": {\"z\": " + deep + "}, \"links\": {\"z\": " + deep + "},");
  expect_field(refusal([&] { parse_profile(text, "p.json"); }), "p.json: more than 32 levels deep");
  expect_field(refusal([&] { parse_links(deep, "l.json"); }), "l.json: more than 32 levels deep");
}

TEST(HostileProfile, NumbersThatNoDoubleHoldsAreRefused) {
  expect_field(refusal([] { parse_profile("{\"schema\": 1e999}", "p.json"); }),
               "p.json: a number is out of range: ");
}

TEST(HostileProfile, TheRecordOfACalibrationIsReadWithCare) {
  const auto with = [](const Json& calibration) {
    Json profile = Json::parse(profile_text(*load_profile("h100-varlen")));
    profile["calibration"] = calibration;
    return std::static_pointer_cast<const KernelProfile>(parse_profile(profile.dump(), "p.json"));
  };
  EXPECT_EQ(calibrated_reference(*with({{"isa", "avx2"}})), 0);
  EXPECT_EQ(calibrated_reference(*with({{"reference_seconds", 0.001}})), 0.001);
  for (const Json& value : {Json(-1), Json(1e300), Json("x"), Json::array()})
    EXPECT_NE(refusal([&] {
                calibrated_reference(*with({{"reference_seconds", value}}));
              }).find("calibration/reference_seconds is"),
              std::string::npos)
        << value;
  EXPECT_NE(refusal([&] {
              calibrated_isa(*with({{"isa", 7}}));
            }).find("calibration/isa is not"),
            std::string::npos);
  EXPECT_EQ(cross_validated_error(*with({{"forward", 3}}), Direction::kForward), 0);
}

}  // namespace
}  // namespace counterpoise
