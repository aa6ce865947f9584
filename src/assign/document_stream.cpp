// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/document_stream.h"

#include <numeric>

#include "counterpoise/error.h"

namespace counterpoise {

DocumentOrder parse_document_order(std::string_view name) {
  if (name == "sample") return DocumentOrder::kSample;
  if (name == "shuffle") return DocumentOrder::kShuffle;
  if (name == "corpus") return DocumentOrder::kCorpus;
  throw_error(ErrorKind::kUsage, "--order: unknown order '{}'; one of sample, shuffle, corpus", name);
}

std::string name_of(DocumentOrder order) {
  return order == DocumentOrder::kSample ? "sample" : order == DocumentOrder::kShuffle ? "shuffle" : "corpus";
}

DocumentStream::DocumentStream(const Lengths& lengths, const LengthSampler& sampler, DocumentOrder order,
                               uint64_t seed, uint64_t part)
    : lengths_(lengths), sampler_(sampler), order_(order), random_(seed, part) {
  if (order_ == DocumentOrder::kSample) return;
  if (!lengths_.has_order())
    throw_error(ErrorKind::kUsage,
                "--order {}: {} is a distribution and has no documents in order; use --order sample",
                name_of(order_), lengths_.source);
  if (order_ == DocumentOrder::kShuffle) {
    permutation_.resize(lengths_.corpus.size());
    std::iota(permutation_.begin(), permutation_.end(), 0u);
  }
}

void DocumentStream::draw_batch() {
  if (order_ == DocumentOrder::kSample) {
    for (int64_t& length : batch_) length = sampler_.draw(random_);
    drawn_ += kBatch;
    return;
  }
  const int64_t count = static_cast<int64_t>(lengths_.corpus.size());
  for (int64_t i = 0; i < kBatch; ++i) {
    if (order_ == DocumentOrder::kCorpus && drawn_ == count) return;
    const int64_t position = drawn_++ % count;
    if (order_ == DocumentOrder::kShuffle && position == 0) random_.shuffle(std::span(permutation_));
    const size_t index = static_cast<size_t>(position);
    batch_[static_cast<size_t>(i)] = lengths_.corpus[permutation_.empty() ? index : permutation_[index]];
  }
}

}  // namespace counterpoise
