// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counterpoise/lengths.h"
#include "counterpoise/windows.h"

namespace counterpoise {

// The order in which a run meets the documents of its lengths.
enum class DocumentOrder {
  kSample,   // drawn with replacement: the lengths are taken as a distribution; endless
  kShuffle,  // one permutation of the file after another; endless
  kCorpus,   // the file's own order, once
};

DocumentOrder parse_document_order(std::string_view name);
std::string name_of(DocumentOrder order);

// Documents one after another. Ids count from 0 in the order drawn. Not thread safe.
class DocumentStream {
 public:
  // `lengths` and `sampler` must outlive the stream. Throws kUsage where a distribution is asked for file
  // order.
  DocumentStream(const Lengths& lengths, const LengthSampler& sampler, DocumentOrder order, uint64_t seed,
                 uint64_t part = 0);

  // Empty at the end of a corpus.
  std::optional<Document> next() {
    if (taken_ == drawn_) draw_batch();
    if (taken_ == drawn_) return std::nullopt;
    const int64_t length = batch_[static_cast<size_t>(taken_ % kBatch)];
    return Document{taken_++, length};
  }

 private:
  // Lengths are drawn many at a time, so that waiting for memory overlaps.
  static constexpr int64_t kBatch = 64;
  void draw_batch();

  const Lengths& lengths_;
  const LengthSampler& sampler_;
  const DocumentOrder order_;
  RandomStream random_;
  std::vector<uint32_t> permutation_;
  std::array<int64_t, kBatch> batch_{};
  int64_t taken_ = 0, drawn_ = 0;  // documents handed out; documents drawn
};

}  // namespace counterpoise
