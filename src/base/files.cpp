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

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw_error(ErrorKind::kBadInput, "{}: cannot write: {}", path, std::strerror(error));
}

void write_all(FILE* file, const std::string& name, std::string_view content) {
  if (std::fwrite(content.data(), 1, content.size(), file) != content.size() || std::fflush(file) != 0)
    cannot_write(name, errno);
}

// What stands at `path`, behind symbolic links; a folder is refused.
std::filesystem::file_status writable_status(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) cannot_write(path, EISDIR);
  return status;
}

// A device or a pipe takes bytes; a file renamed over it would take its place.
bool takes_bytes_only(const std::filesystem::file_status& status) {
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

void write_into(const std::string& file_path, const std::string& name, std::string_view content) {
  const File file(std::fopen(file_path.c_str(), "wb"));
  if (!file) cannot_write(name, errno);
  write_all(file.get(), name, content);
}

// The file itself where `path` is a symbolic link to one, so that the link stays.
std::string behind_links(const std::string& path, const std::filesystem::file_status& status) {
  return std::filesystem::exists(status) ? std::filesystem::canonical(path).string() : path;
}

std::string temporary_beside(const std::string& path) {
  return fmt::format("{}.tmp{}", path, ::getpid());
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
  const std::filesystem::file_status status = writable_status(path);
  if (takes_bytes_only(status)) return write_into(path, path, content);
  const std::string target = behind_links(path, status), temporary = temporary_beside(target);
  try {
    write_into(temporary, path, content);
    if (std::rename(temporary.c_str(), target.c_str()) != 0) cannot_write(path, errno);
  } catch (const Error&) {
    std::remove(temporary.c_str());
    throw;
  }
}

void require_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  const std::filesystem::file_status status = writable_status(path);
  if (takes_bytes_only(status)) {
    if (::access(path.c_str(), W_OK) != 0) cannot_write(path, errno);
    return;
  }
  const std::string temporary = temporary_beside(behind_links(path, status));
  const File file(std::fopen(temporary.c_str(), "wb"));
  if (!file) cannot_write(path, errno);
  std::remove(temporary.c_str());
}

}  // namespace counterpoise
