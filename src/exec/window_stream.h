// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/lengths.h"
#include "counterpoise/random.h"

namespace counterpoise {

// Windows of a stream of documents, cut where they are full.
class WindowStream {
 public:
  WindowStream(const Lengths& lengths, int64_t window, RandomStream& random)
      : sampler_(lengths), window_(window), random_(random) {}

  // Lengths of the next window's pieces. kBadInput where no document has a token.
  std::vector<int64_t> next();

 private:
  LengthSampler sampler_;
  int64_t window_;
  RandomStream& random_;
  int64_t left_ = 0;
};

}  // namespace counterpoise
