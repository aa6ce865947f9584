// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace counterpoise {

// Floats on a cache-line boundary, not initialised.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t floats) {
    const size_t bytes = (static_cast<size_t>(floats) * sizeof(float) + 63) / 64 * 64;
    data_.reset(static_cast<float*>(std::aligned_alloc(64, bytes + 64)));
    if (!data_) throw std::bad_alloc();
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float[], Free> data_;
};

}  // namespace counterpoise
