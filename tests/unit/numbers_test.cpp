// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/numbers.h"

#include <gtest/gtest.h>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

TEST(Numbers, ParsesSizes) {
  EXPECT_EQ(parse_size("4096", "--window"), 4096);
  EXPECT_EQ(parse_size("8k", "--window"), 8192);
  EXPECT_EQ(parse_size("128K", "--window"), 131072);
  EXPECT_EQ(parse_size("1M", "--window"), 1048576);
  EXPECT_EQ(parse_size("1_000_000", "--window"), 1000000);
  EXPECT_EQ(parse_size("1.5k", "--window"), 1536);
  EXPECT_EQ(parse_size("0", "--window"), 0);
  EXPECT_EQ(parse_size_list("1,2,4k", "--cp"), (std::vector<int64_t>{1, 2, 4096}));
}

TEST(Numbers, RefusesWhatIsNotASize) {
  for (const char* text : {"", "k", "-1", "8kb", "1.3", "0x10", "1e3", "nan", " 8", "99999999999999999999"})
    EXPECT_THROW(parse_size(text, "--window"), Error) << text;
  EXPECT_THROW(parse_size_list("1,,2", "--cp"), Error);
}

TEST(Numbers, FormatsForPeople) {
  EXPECT_EQ(format_size(32768), "32K");
  EXPECT_EQ(format_size(4100), "4100");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(-123), "-123");
  EXPECT_EQ(format_si(4.51e9), "4.51G");
  EXPECT_EQ(format_si(999), "999");
  EXPECT_EQ(format_seconds(0.00123), "1.23 ms");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
}

}  // namespace
}  // namespace counterpoise
