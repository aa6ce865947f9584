// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "counterpoise/error.h"
#include "counterpoise/lengths.h"

namespace counterpoise {

// A file of this test's own that is gone with it.
class LengthFile {
 public:
  LengthFile(std::string_view name, std::string_view content) {
    folder_ = std::filesystem::temp_directory_path() /
              ("counterpoise_lengths_" + std::to_string(::getpid()) + "_" + std::to_string(next_++));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / name).string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~LengthFile() { std::filesystem::remove_all(folder_); }
  LengthFile(const LengthFile&) = delete;
  LengthFile& operator=(const LengthFile&) = delete;

  const std::string& path() const { return path_; }
  Lengths read(const ReadOptions& options = {}) const { return read_lengths(path_, options); }

 private:
  static inline int next_ = 0;
  std::filesystem::path folder_;
  std::string path_;
};

// Runs `body`, which must throw an Error of `kind` whose message holds `words`.
template <typename Body>
void expect_refused(ErrorKind kind, std::string_view words, Body body) {
  try {
    body();
    ADD_FAILURE() << "accepted; expected: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(words), std::string_view::npos)
        << "message:  " << error.what() << "\nexpected: " << words;
  }
}

}  // namespace counterpoise
