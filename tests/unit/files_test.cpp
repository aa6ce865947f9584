// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("counterpoise_files_" + std::to_string(getpid()));
    fs::create_directory(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string in_folder(const std::string& name) const { return (folder / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  fs::path folder;
};

void expect_refused(const std::function<void()>& act, const std::string& path) {
  try {
    act();
    FAIL() << path << " was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_EQ(std::string(error.what()).find(path + ": cannot write: "), 0u) << error.what();
  }
}

TEST_F(Files, ReplaceWhatWasThereAndLeaveNothingElse) {
  const std::string path = in_folder("a");
  write_file(path, "long before");
  write_file(path, "after");
  EXPECT_EQ(read_file(path), "after");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, WhatCannotBeWrittenIsRefusedBeforeTheWork) {
  for (const std::string& path : {folder.string(), in_folder("absent/a"), in_folder("")}) {
    expect_refused([&] { write_file(path, "x"); }, path);
    expect_refused([&] { require_writable(path); }, path);
  }
  for (const std::string& path : {std::string(), std::string("-"), in_folder("a"), std::string("/dev/null")})
    require_writable(path);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Files, ASymbolicLinkStaysOne) {
  write_file(in_folder("target"), "before");
  fs::create_symlink("target", folder / "link");
  write_file(in_folder("link"), "after");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(in_folder("target")), "after");
}

// A pipe stands for every device: renaming a file over /dev/null would replace it for all processes.
TEST_F(Files, APipeIsWrittenToAndStays) {
  const std::string pipe = in_folder("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(pipe, "through");
  ASSERT_TRUE(fs::is_fifo(pipe));
  char got[16] = {};
  EXPECT_EQ(read(reader, got, sizeof got), 7);
  EXPECT_STREQ(got, "through");
  close(reader);
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace counterpoise
