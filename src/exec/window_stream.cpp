// SPDX-License-Identifier: Apache-2.0
#include "exec/window_stream.h"

#include <algorithm>

#include "counterpoise/error.h"

namespace counterpoise {

std::vector<int64_t> WindowStream::next() {
  std::vector<int64_t> pieces;
  for (int64_t room = window_; room > 0;) {
    for (int tries = 0; left_ == 0; ++tries) {
      if (tries > 100000) throw_error(ErrorKind::kBadInput, "the documents have no tokens to validate with");
      left_ = sampler_.draw(random_);
    }
    const int64_t piece = std::min(left_, room);
    pieces.push_back(piece);
    left_ -= piece;
    room -= piece;
  }
  return pieces;
}

}  // namespace counterpoise
