// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "counterpoise/communicator.h"

namespace counterpoise {

// Bytes of tensors and buffers that a rank holds, now and at most. One per rank; not thread safe.
class MemoryCounter {
 public:
  void add(int64_t bytes) {
    current_ += bytes;
    peak_ = std::max(peak_, current_);
  }
  void remove(int64_t bytes) { current_ -= bytes; }
  int64_t current() const { return current_; }
  int64_t peak() const { return peak_; }

 private:
  int64_t current_ = 0;
  int64_t peak_ = 0;
};

// A counted array of floats, 64-byte aligned, uninitialised; private to this rank or in the memory that ranks
// of the node share. Must die before its counter and communicator.
class CountedFloats {
 public:
  CountedFloats() = default;
  CountedFloats(MemoryCounter& counter, int64_t count, Communicator* shared = nullptr)
      : counter_(&counter), shared_(shared), count_(count) {
    if (shared_ != nullptr) {
      data_ = reinterpret_cast<float*>(shared_->allocate_shared(bytes()));
    } else {
      data_ = static_cast<float*>(::operator new (static_cast<size_t>(bytes()), std::align_val_t{64}));
    }
    counter_->add(bytes());
  }
  CountedFloats(CountedFloats&& other) noexcept { *this = std::move(other); }
  CountedFloats& operator=(CountedFloats&& other) noexcept {
    std::swap(counter_, other.counter_);
    std::swap(shared_, other.shared_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~CountedFloats() {
    if (data_ == nullptr) return;
    counter_->remove(bytes());
    if (shared_ != nullptr) {
      shared_->free_shared(reinterpret_cast<std::byte*>(data_), bytes());
    } else {
      ::operator delete (data_, std::align_val_t{64});
    }
  }

  float* data() const { return data_; }
  int64_t size() const { return count_; }
  int64_t bytes() const { return count_ * static_cast<int64_t>(sizeof(float)); }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  MemoryCounter* counter_ = nullptr;
  Communicator* shared_ = nullptr;
  int64_t count_ = 0;
  float* data_ = nullptr;
};

}  // namespace counterpoise
