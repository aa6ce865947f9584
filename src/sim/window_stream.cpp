// SPDX-License-Identifier: Apache-2.0
#include "sim/window_stream.h"

#include <algorithm>
#include <mutex>

#include "counterpoise/error.h"
#include "counterpoise/parallel.h"

namespace counterpoise {
namespace {

constexpr int64_t kBlock = 4096;  // windows drawn from one random stream

bool fits(const LengthBin& bin, const PackOptions& pack) {
  const bool kept = pack.long_documents != LongDocuments::kDrop || bin.lo <= pack.window;
  const bool empty_windows = pack.policy == PackPolicy::kOneDocument;
  return kept && bin.weight > 0 && (bin.hi > 0 || empty_windows);
}

// Without one document that leaves tokens in a window, an endless stream would never end one.
void require_tokens(const Lengths& lengths, const PackOptions& pack) {
  const bool some = std::any_of(lengths.bins.begin(), lengths.bins.end(),
                                [&](const LengthBin& bin) { return fits(bin, pack); }) ||
                    std::any_of(lengths.corpus.begin(), lengths.corpus.end(), [&](int64_t length) {
                      return length > 0 && fits({length, length, 1}, pack);
                    });
  if (some) return;
  const auto longest = std::max_element(lengths.corpus.begin(), lengths.corpus.end());
  if (longest != lengths.corpus.end() && *longest == 0)
    throw_error(ErrorKind::kBadInput,
                "{}: all {} documents have length 0, so there is no attention to balance", lengths.source,
                lengths.corpus.size());
  throw_error(ErrorKind::kBadInput,
              "{}: every document is longer than the window of {} tokens and --long drop drops it; "
              "use a larger --window, --long split or --long truncate",
              lengths.source, pack.window);
}

}  // namespace

StreamedWindows stream_windows(const WindowSource& source, int64_t windows, uint64_t part,
                               const TakeWindows& take) {
  require_tokens(source.lengths, source.pack);
  const LengthSampler sampler(source.lengths);
  if (source.order != DocumentOrder::kSample) {
    DocumentStream documents(source.lengths, sampler, source.order, source.seed, part);
    const std::unique_ptr<Packer> packer = Packer::make(source.pack);
    const int64_t taken = take(documents, *packer, 0, windows);
    return {packer->account(), taken};
  }
  StreamedWindows result{{}, windows};
  std::mutex account_mutex;
  parallel_for((windows + kBlock - 1) / kBlock, source.threads, [&](int64_t block) {
    DocumentStream documents(source.lengths, sampler, source.order, source.seed,
                             (part << 32) + static_cast<uint64_t>(block));
    const std::unique_ptr<Packer> packer = Packer::make(source.pack);
    take(documents, *packer, block * kBlock, std::min(kBlock, windows - block * kBlock));
    const std::lock_guard lock(account_mutex);
    result.account += packer->account();
  });
  return result;
}

}  // namespace counterpoise
