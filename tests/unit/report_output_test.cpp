// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json_output.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

TEST(TextTable, AlignsByCharactersAndTrims) {
  TextTable table({{"bin", Align::kLeft}, {"share"}, {"picture", Align::kLeft}});
  table.add_row({"1K–2K", "7 %", bar(0.5, 4)});
  table.add_row({"≤ 1", "93.5 %", ""});
  EXPECT_EQ(table.str(1),
            " bin     share  picture\n"
            " -----  ------  -------\n"
            " 1K–2K     7 %  ██\n"
            " ≤ 1    93.5 %\n");
}

TEST(TextTable, BarRoundsToEighthsAndClamps) {
  EXPECT_EQ(bar(0, 10), "");
  EXPECT_EQ(bar(1.0 / 16, 2), "▏");
  EXPECT_EQ(bar(7, 3), "███");
  EXPECT_EQ(bar(std::nan(""), 3), "");
}

TEST(JsonOutput, LeadsWithSchemaAndKeepsOrder) {
  nlohmann::ordered_json body;
  body["zeta"] = 1;
  body["alpha"] = std::nan("");
  body["bytes"] = "\xff";
  const std::string text = json_document("lengths", body, 2);
  EXPECT_EQ(text.find("{\n  \"schema\": \"counterpoise/lengths\",\n  \"version\": 2,\n  \"zeta\": 1,\n"), 0u);
  EXPECT_TRUE(nlohmann::json::parse(text)["alpha"].is_null());
}

}  // namespace
}  // namespace counterpoise
