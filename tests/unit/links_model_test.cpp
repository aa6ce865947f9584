// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "counterpoise/error.h"
#include "counterpoise/kernel_profile.h"
#include "counterpoise/links.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

TEST(Links, RingFormulas) {
  EXPECT_EQ(moved_bytes(Collective::kSendRecv, 8, 800), 800);
  EXPECT_EQ(moved_bytes(Collective::kAllGather, 8, 800), 700);
  EXPECT_EQ(moved_bytes(Collective::kReduceScatter, 8, 800), 700);
  EXPECT_EQ(moved_bytes(Collective::kAllReduce, 8, 800), 1400);
  EXPECT_EQ(moved_bytes(Collective::kAllToAll, 4, 800), 600);
  EXPECT_EQ(ring_steps(Collective::kAllReduce, 4), 6);
  EXPECT_EQ(ring_steps(Collective::kAllGather, 1), 0);
  for (const Collective op : kCollectives) EXPECT_EQ(parse_collective(collective_name(op)), op);
  EXPECT_THROW(parse_collective("gather"), Error);
}

LinkLevel node() {
  return {"node",
          {{Collective::kAllGather, 2, {{10e-6, 1e-9}}, 1e3, 1e9},
           {Collective::kAllGather, 8, {{30e-6, 1e-9}}, 1e3, 1e9},
           {Collective::kSendRecv, 2, {{5e-6, 1e-8}, {9e-6, 1e-9}}, 1e3, 1e9}}};
}

TEST(Links, SecondsAreLatencyPlusMovedBytes) {
  const LinkLevel level = node();
  EXPECT_EQ(level.seconds(Collective::kAllGather, 1, 1e6), 0);
  EXPECT_DOUBLE_EQ(level.seconds(Collective::kAllGather, 2, 1e6), 10e-6 + 0.5e-3);
  EXPECT_DOUBLE_EQ(level.seconds(Collective::kAllGather, 8, 1e6), 30e-6 + 0.875e-3);
  // Half way between 2 and 8 in the logarithm.
  EXPECT_NEAR(level.seconds(Collective::kAllGather, 4, 1e6), 20e-6 + 0.75e-3, 1e-12);
  // Beyond: the latency of 15 steps instead of 7.
  EXPECT_NEAR(level.seconds(Collective::kAllGather, 16, 1e6), 30e-6 * 15 / 7 + 1e-3 * 15 / 16, 1e-12);
  EXPECT_TRUE(level.extrapolated(Collective::kAllGather, 16, 1e6));
  EXPECT_FALSE(level.extrapolated(Collective::kAllGather, 4, 1e6));
  EXPECT_TRUE(level.extrapolated(Collective::kAllGather, 4, 1e10));
}

TEST(Links, TheFasterProtocolIsTaken) {
  const LinkLevel level = node();
  EXPECT_DOUBLE_EQ(level.seconds(Collective::kSendRecv, 2, 100), 5e-6 + 100e-8);
  EXPECT_DOUBLE_EQ(level.seconds(Collective::kSendRecv, 2, 1e6), 9e-6 + 1e-3);
}

TEST(Links, CollectivesWithoutACurveAreComposed) {
  const LinkLevel level = node();
  EXPECT_NEAR(level.seconds(Collective::kAllToAll, 4, 4e6), 3 * (9e-6 + 1e-3), 1e-12);
  EXPECT_TRUE(level.extrapolated(Collective::kAllToAll, 4, 4e6));
  EXPECT_THROW(LinkLevel({"node", {}}).seconds(Collective::kAllToAll, 4, 1), Error);
}

TEST(Links, FitRecoversTwoProtocols) {
  std::vector<LinkMeasurement> rows;
  for (double bytes = 1; bytes < 1e9; bytes *= 4)
    rows.push_back(
        {Collective::kSendRecv, 2, 1, bytes, node().seconds(Collective::kSendRecv, 2, bytes), "", ""});
  const std::vector<LinkLevel> levels = fit_links(rows);
  ASSERT_EQ(levels.size(), 1u);
  ASSERT_EQ(levels[0].curves[0].lines.size(), 2u);
  EXPECT_LT(link_errors(levels, rows).worst, 1e-3);
}

TEST(Links, FitRecoversWhatBytesBeyondACacheCost) {
  LinkCurve curve{Collective::kAllReduce, 4, {{20e-6, 1e-10}}, 1 << 10, 64 << 20, 1.5 * (1 << 20), 4e-10};
  std::vector<LinkMeasurement> rows;
  for (double bytes = 1 << 10; bytes <= 64 << 20; bytes *= 2)
    rows.push_back({Collective::kAllReduce, 4, 1, bytes, curve.seconds(bytes), "", ""});
  const std::vector<LinkLevel> levels = fit_links(rows, Transport::kMemory);
  EXPECT_LT(link_errors(levels, rows).worst, 1e-3);
  EXPECT_EQ(fit_links(rows)[0].curves[0].far_seconds_per_byte, 0);
  const LinkCurve& fitted = levels[0].curves[0];
  EXPECT_NEAR(fitted.near_bytes, curve.near_bytes, 1);  // 1 MiB moves 1.5: a row lies there
  EXPECT_NEAR(fitted.far_seconds_per_byte, 4e-10, 1e-13);
  const Links links{"here", "", "", "", levels};
  EXPECT_EQ(links_text(parse_links(links_text(links), "again")), links_text(links));
}

TEST(Links, FitOfNoisyRowsFindsLatencyAndBandwidth) {
  RandomStream random(7);
  std::vector<LinkMeasurement> rows;
  for (int repeat = 0; repeat < 20; ++repeat)
    for (double bytes = 1 << 10; bytes <= 64 << 20; bytes *= 2)
      rows.push_back({Collective::kSendRecv, 2, 1, bytes,
                      (5e-6 + bytes * 1e-9) * std::exp(0.05 * random.normal()), "", ""});
  const LinkCurve fitted = fit_links(rows)[0].curves[0];
  ASSERT_EQ(fitted.lines.size(), 1u);
  // 340 rows with 5 % of noise, half of them on either side: the mean of 170 is within 3 x 5 % / sqrt(170).
  EXPECT_NEAR(fitted.lines[0].latency, 5e-6, 0.012 * 5e-6);
  EXPECT_NEAR(fitted.lines[0].seconds_per_byte, 1e-9, 0.012 * 1e-9);
}

TEST(Links, NaivePredictorsAreWhatTheySay) {
  // Two collectives of equal bandwidth over moved bytes and different latency.
  std::vector<LinkMeasurement> rows;
  for (const double bytes : {1e3, 1e6, 1e9})
    for (const auto& [op, latency] : {std::pair{Collective::kSendRecv, 0.0}, {Collective::kAllReduce, 1e-3}})
      rows.push_back({op, 4, 1, bytes, latency + moved_bytes(op, 4, bytes) * 1e-9, "", ""});
  const std::vector<NaiveError> naive = naive_link_errors(rows, rows);
  ASSERT_EQ(naive.size(), 3u);
  for (const NaiveError& one : naive) EXPECT_EQ(one.error.rows, 6) << one.name;
  // Without latency the three send_recv rows are exact; all_reduce takes 1.0015 ms, 2.5 ms and 1.501 s, of
  // which b / (1 byte/ns) is 1 us, 1 ms and 1 s, and moved bytes 1.5 times that.
  EXPECT_NEAR(naive[0].error.median, (0 + 1 - 1 / 1.501) / 2, 1e-9);
  EXPECT_NEAR(naive[0].error.worst, 1 - 1e-6 / 1.0015e-3, 1e-9);
  EXPECT_NEAR(naive[1].error.median, (0 + 1 - 1.5 / 1.501) / 2, 1e-9);
  EXPECT_NEAR(naive[1].error.worst, 1 - 1.5e-6 / 1.0015e-3, 1e-9);
  EXPECT_TRUE(naive_link_errors({}, rows).empty());
}

TEST(Links, AProfileThatHoldsLinksIsALinksFile) {
  const KernelProfilePtr plain = load_kernel_profile("a100");
  const Links links = load_links("h200-nccl");
  const KernelProfilePtr both = with_links(*plain, links);
  EXPECT_EQ(links_text(parse_links(profile_text(*both), "both.json")), links_text(links));
  EXPECT_EQ(profile_text(*parse_profile(profile_text(*both), "both.json")), profile_text(*both));
  EXPECT_NE(profile_hash(*both), profile_hash(*plain));
  try {
    parse_links(profile_text(*plain), "plain.json");
    ADD_FAILURE() << "links out of nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(std::string(error.what()).find("plain.json: field links"), std::string::npos) << error.what();
  }
}

TEST(Links, BuiltInsSaveAndLoadEqual) {
  for (const std::string& name : links_names()) {
    const Links links = load_links(name);
    EXPECT_EQ(links.name, name);
    EXPECT_EQ(links_text(parse_links(links_text(links), "again.json")), links_text(links));
  }
  // 1 GiB gathered among 8 H200: 2589 us were measured.
  EXPECT_NEAR(load_links("h200-nccl").level("node").seconds(Collective::kAllGather, 8, 1 << 30), 2.589e-3,
              0.1e-3);
  EXPECT_THROW(load_links("h200-nccl").level("rack"), Error);
  EXPECT_THROW(load_links("h900"), Error);
}

TEST(Links, BadFilesNameTheField) {
  const std::string good = links_text(load_links("h200-nccl"));
  for (const auto& [from, to] :
       {std::pair{"\"ranks\": 2", "\"ranks\": 1"}, {"\"op\": \"all_reduce\"", "\"op\": \"gossip\""}}) {
    std::string text = good;
    text.replace(text.find(from), std::string(from).size(), to);
    try {
      parse_links(text, "links.json");
      ADD_FAILURE() << to;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_NE(std::string(error.what()).find("links.json: field levels[0].curves["), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace counterpoise
