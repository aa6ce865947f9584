// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/plan_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "counterpoise/error.h"
#include "counterpoise/random.h"
#include "counterpoise/scheme.h"
#include "counterpoise/verify.h"

namespace counterpoise {
namespace {

PlanRequest small_request() {
  PlanRequest request;
  request.groups = {{{{7, 9}, {8, 0}}, {{9, 4}}}, {{}, {{10, 1}, {11, 30}}}};
  request.cp = 3;
  request.shape = {4, 2, 8, 4, 2, Mask::sliding_window(6)};
  request.sharder = "per_document_zigzag";
  request.backward = true;
  request.seed = 12345678901234567890ull;
  return request;
}

TEST(PlanFile, LoadEqualsSaveForEveryScheme) {
  for (const SchemeInfo& scheme : schemes()) {
    PlanRequest request = small_request();
    request.scheme = scheme.name;
    const StepPlan plan = make_plan(request);
    const std::string bytes = save_plan(plan);
    const StepPlan loaded = load_plan(bytes, "memory");
    EXPECT_EQ(loaded, plan) << scheme.name;
    EXPECT_EQ(save_plan(loaded), bytes) << scheme.name;
    EXPECT_EQ(plan_hash(loaded), plan_hash(plan)) << scheme.name;
  }
}

TEST(PlanFile, GoesThroughAFile) {
  const std::string path = std::filesystem::temp_directory_path() / "counterpoise_plan_file_test.plan";
  const StepPlan plan = make_plan(small_request());
  write_plan_file(path, plan);
  EXPECT_EQ(read_plan_file(path), plan);
  std::filesystem::remove(path);
  EXPECT_THROW(read_plan_file(path), Error);
}

// Frozen: a change of the encoding or of the planner must be meant, and raise kPlanFormatVersion if the
// former.
TEST(PlanFile, HashIsTheSameOnEveryMachine) {
  PlanRequest request;
  request.groups = {{{{0, 4}, {1, 12}}}};
  request.cp = 2;
  request.sharder = "per_document_zigzag";
  const StepPlan plan = make_plan(request);
  EXPECT_EQ(lengths_hash(plan), 14728450576199406285ull);
  EXPECT_EQ(layout_hash(plan), 11421009815827531974ull);
  EXPECT_EQ(plan_hash(plan), 13832030159389790596ull);
}

TEST(PlanFile, HashesTellWhatDiffers) {
  const StepPlan plan = make_plan(small_request());
  PlanRequest other = small_request();
  other.sharder = "contiguous";
  const StepPlan resharded = make_plan(other);
  EXPECT_EQ(lengths_hash(resharded), lengths_hash(plan));
  EXPECT_NE(layout_hash(resharded), layout_hash(plan));
  other = small_request();
  other.scheme = "all_gather";
  const StepPlan rerouted = make_plan(other);
  EXPECT_EQ(layout_hash(rerouted), layout_hash(plan));
  EXPECT_NE(plan_hash(rerouted), plan_hash(plan));
  other = small_request();
  other.groups[0][0][0].length += 1;
  EXPECT_NE(lengths_hash(make_plan(other)), lengths_hash(plan));
}

// Loads or is refused with the file's name and an offset; nothing else happens.
bool refused(const std::string& bytes) {
  try {
    load_plan(bytes, "hostile.plan");
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_EQ(std::string(error.what()).rfind("hostile.plan: offset ", 0), 0u) << error.what();
    return true;
  }
}

TEST(PlanFile, EveryTruncationIsRefused) {
  const std::string bytes = save_plan(make_plan(small_request()));
  for (size_t size = 0; size < bytes.size(); ++size) ASSERT_TRUE(refused(bytes.substr(0, size))) << size;
  EXPECT_TRUE(refused(bytes + '\0'));
}

TEST(PlanFile, EveryFlippedBitIsRefused) {
  const std::string bytes = save_plan(make_plan(small_request()));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    ASSERT_TRUE(refused(changed)) << at;
  }
}

TEST(PlanFile, OtherFilesAreRefused) {
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("1234\n5678\n"));
  EXPECT_TRUE(refused(std::string(1000, '\xff')));
}

}  // namespace
}  // namespace counterpoise
