// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/window_costs.h"

#include <algorithm>
#include <mutex>

#include "counterpoise/error.h"
#include "counterpoise/parallel.h"
#include "sim/piece_table.h"

namespace counterpoise {
namespace {

constexpr int64_t kBlock = 4096;  // windows drawn from one random stream

// Adds up the price of each window as its pieces arrive; windows beyond the last row are not needed.
class PriceSink final : public WindowSink {
 public:
  PriceSink(const PieceTable& table, std::span<double> rows, size_t columns)
      : table_(table), rows_(rows), columns_(columns), sum_(table.stride()) {}

  void piece(const Piece& piece) override { table_.add(piece.length, sum_.data()); }
  void end_window(int64_t) override {
    if (!full()) std::copy_n(sum_.begin(), columns_, rows_.begin() + static_cast<std::ptrdiff_t>(row_));
    row_ = std::min(row_ + columns_, rows_.size());
    std::fill(sum_.begin(), sum_.end(), 0.0);
  }
  bool full() const { return row_ == rows_.size(); }
  size_t priced() const { return row_; }

 private:
  const PieceTable& table_;
  std::span<double> rows_;
  size_t columns_;
  std::vector<double> sum_;
  size_t row_ = 0;
};

// Fills rows from one stream; returns how many doubles of `rows` were priced before the stream ended.
size_t price_rows(DocumentStream& documents, Packer& packer, const PieceTable& table, std::span<double> rows,
                  size_t columns) {
  PriceSink sink(table, rows, columns);
  while (!sink.full()) {
    const std::optional<Document> document = documents.next();
    if (!document) break;
    packer.add(*document, sink);
  }
  return sink.priced();
}

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

std::vector<double> WindowCosts::column(size_t j) const {
  std::vector<double> result(static_cast<size_t>(windows()));
  for (size_t w = 0; w < result.size(); ++w) result[w] = values[w * cp.size() + j];
  return result;
}

WindowCosts window_costs(const WindowSource& source, std::span<const int64_t> cp, const PieceTime& piece_time,
                         int64_t windows, uint64_t part) {
  require_tokens(source.lengths, source.pack);
  const LengthSampler sampler(source.lengths);
  const PieceTable table(piece_time, cp, source.pack.window);
  WindowCosts costs{{cp.begin(), cp.end()}, {}, {}};
  costs.values.resize(static_cast<size_t>(windows) * cp.size());
  if (source.order != DocumentOrder::kSample) {
    DocumentStream documents(source.lengths, sampler, source.order, source.seed, part);
    const std::unique_ptr<Packer> packer = Packer::make(source.pack);
    const size_t priced = price_rows(documents, *packer, table, costs.values, cp.size());
    costs.ended = priced < costs.values.size();
    costs.values.resize(priced);
    costs.account = packer->account();
    return costs;
  }
  const int64_t blocks = (windows + kBlock - 1) / kBlock;
  std::mutex account_mutex;
  parallel_for(blocks, source.threads, [&](int64_t block) {
    DocumentStream documents(source.lengths, sampler, source.order, source.seed,
                             (part << 32) + static_cast<uint64_t>(block));
    const std::unique_ptr<Packer> packer = Packer::make(source.pack);
    const size_t begin = static_cast<size_t>(block * kBlock) * cp.size();
    const size_t count = static_cast<size_t>(std::min(kBlock, windows - block * kBlock)) * cp.size();
    price_rows(documents, *packer, table, std::span(costs.values).subspan(begin, count), cp.size());
    const std::lock_guard lock(account_mutex);
    costs.account += packer->account();
  });
  return costs;
}

}  // namespace counterpoise
