// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

void write_all(FILE* file, const std::string& name, std::string_view content) {
  if (std::fwrite(content.data(), 1, content.size(), file) != content.size() || std::fflush(file) != 0)
    throw_error(ErrorKind::kBadInput, "{}: cannot write: {}", name, std::strerror(errno));
}

}  // namespace

std::string read_file(const std::string& path) {
  const bool is_stdin = path == "-";
  if (!is_stdin && std::filesystem::is_directory(path))
    throw_error(ErrorKind::kBadInput, "{}: is a folder, a file was expected", path);
  const File opened(is_stdin ? nullptr : std::fopen(path.c_str(), "rb"));
  FILE* file = is_stdin ? stdin : opened.get();
  if (!file) throw_error(ErrorKind::kBadInput, "{}: cannot open: {}", path, std::strerror(errno));
  std::string content;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) content.append(buffer, n);
  if (std::ferror(file)) throw_error(ErrorKind::kBadInput, "{}: cannot read: {}", path, std::strerror(errno));
  return content;
}

void write_file(const std::string& path, std::string_view content) {
  if (path == "-") return write_all(stdout, "stdout", content);
  const std::string temporary = fmt::format("{}.tmp{}", path, ::getpid());
  File file(std::fopen(temporary.c_str(), "wb"));
  if (!file) throw_error(ErrorKind::kBadInput, "{}: cannot write: {}", path, std::strerror(errno));
  try {
    write_all(file.get(), path, content);
    file.reset();
    std::filesystem::rename(temporary, path);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
}

}  // namespace counterpoise
