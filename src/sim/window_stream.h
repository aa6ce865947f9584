// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "counterpoise/window_costs.h"

namespace counterpoise {

// Takes windows [first, first + count) from a stream, fewer where its documents end; returns how many.
using TakeWindows =
    std::function<int64_t(DocumentStream& documents, Packer& packer, int64_t first, int64_t count)>;

struct StreamedWindows {
  PackAccount account;
  int64_t windows = 0;  // taken
};

// Calls `take` for blocks of windows, at once from several threads, or for all of them where documents come
// in one order (see window_costs). Throws kBadInput where no document holds a token.
StreamedWindows stream_windows(const WindowSource& source, int64_t windows, uint64_t part,
                               const TakeWindows& take);

// Packs documents into `sink` until it is full or they end.
template <typename Sink>
void pack_into(DocumentStream& documents, Packer& packer, Sink& sink) {
  while (!sink.full()) {
    const std::optional<Document> document = documents.next();
    if (!document) break;
    packer.add(*document, sink);
  }
}

}  // namespace counterpoise
