// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "counterpoise/error.h"
#include "counterpoise/plan.h"

// One description of the encoding, visited by a writer and by a reader, so that the two cannot differ.
// Integers: LEB128 in the fewest bytes, signed ones zigzag first. Vectors and strings: count, then elements.
namespace counterpoise::codec {

class Writer {
 public:
  static constexpr bool kReads = false;
  std::string take() { return std::move(bytes_); }

  void integer(const char*, uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void text(const char* field, const std::string& value) {
    integer(field, value.size());
    bytes_ += value;
  }

 private:
  std::string bytes_;
};

class Reader {
 public:
  static constexpr bool kReads = true;
  Reader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  uint64_t integer(const char* field) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = static_cast<unsigned char>(next(field));
      if (shift == 63 && byte > 1) fail(field, "an integer above 64 bits");
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (byte == 0 && shift > 0) fail(field, "an integer in more bytes than it needs");
        return value;
      }
    }
    fail(field, "an integer above 64 bits");
  }
  // Every element takes at least one byte, so a count above what is left is a lie.
  size_t count(const char* field) {
    const uint64_t value = integer(field);
    if (value > bytes_.size() - at_) fail(field, "a count beyond the end of the file");
    return static_cast<size_t>(value);
  }
  std::string text(const char* field) {
    const size_t size = count(field);
    at_ += size;
    return std::string(bytes_.substr(at_ - size, size));
  }
  char next(const char* field) {
    if (at_ == bytes_.size()) fail(field, "the file ends here");
    return bytes_[at_++];
  }
  size_t left() const { return bytes_.size() - at_; }
  [[noreturn]] void fail(const char* field, const char* reason) const {
    throw_error(ErrorKind::kBadInput, "{}: offset {}, field {}: {}", name_, at_, field, reason);
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  size_t at_ = 0;
};

template <typename Coder, typename Value>
void number(Coder& coder, const char* field, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    static_assert(std::is_same_v<Value, Payload> || std::is_same_v<Value, OpKind>);
    constexpr uint64_t kKnown = std::is_same_v<Value, Payload> ? kPayloads : kOpKinds;
    if constexpr (Coder::kReads) {
      const uint64_t code = coder.integer(field);
      if (code >= kKnown) coder.fail(field, "an unknown kind");
      value = static_cast<Value>(code);
    } else {
      coder.integer(field, static_cast<uint64_t>(value));
    }
  } else if constexpr (std::is_same_v<Value, bool>) {
    if constexpr (Coder::kReads) {
      const uint64_t code = coder.integer(field);
      if (code > 1) coder.fail(field, "neither 0 nor 1");
      value = code == 1;
    } else {
      coder.integer(field, value ? 1 : 0);
    }
  } else if constexpr (std::is_unsigned_v<Value>) {
    if constexpr (Coder::kReads) {
      value = static_cast<Value>(coder.integer(field));
    } else {
      coder.integer(field, value);
    }
  } else {
    if constexpr (Coder::kReads) {
      const uint64_t code = coder.integer(field);
      const int64_t wide = static_cast<int64_t>(code >> 1) ^ -static_cast<int64_t>(code & 1);
      value = static_cast<Value>(wide);
      if (value != wide) coder.fail(field, "a number above 32 bits");
    } else {
      const int64_t wide = value;
      coder.integer(field, (static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
    }
  }
}

template <typename Coder>
void text(Coder& coder, const char* field, std::string& value) {
  if constexpr (Coder::kReads) {
    value = coder.text(field);
  } else {
    coder.text(field, value);
  }
}

template <typename Coder, typename T, typename Element>
void vector(Coder& coder, const char* field, std::vector<T>& values, Element element) {
  if constexpr (Coder::kReads) {
    // Grown element by element: a false count costs no more memory than the bytes that back it.
    const size_t count = coder.count(field);
    values.clear();
    for (size_t i = 0; i < count; ++i) element(coder, values.emplace_back());
  } else {
    coder.integer(field, values.size());
    for (T& value : values) element(coder, value);
  }
}

}  // namespace counterpoise::codec
