// SPDX-License-Identifier: Apache-2.0
#pragma once
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
    if (order_ == DocumentOrder::kSample) return Document{drawn_++, sampler_.draw(random_)};
    return next_of_corpus();
  }

 private:
  std::optional<Document> next_of_corpus();

  const Lengths& lengths_;
  const LengthSampler& sampler_;
  const DocumentOrder order_;
  RandomStream random_;
  std::vector<uint32_t> permutation_;
  int64_t drawn_ = 0;
};

}  // namespace counterpoise
