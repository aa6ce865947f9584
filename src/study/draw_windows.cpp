// SPDX-License-Identifier: Apache-2.0
#include "study/draw_windows.h"

#include <optional>

namespace counterpoise {
std::vector<Window> draw_windows(const Lengths& lengths, const SimulationConfig& config,
                                 int64_t window_tokens, int64_t count, uint64_t part) {
  const LengthSampler sampler(lengths);
  DocumentStream documents(lengths, sampler, config.order, config.seed, part);
  PackOptions options = config.pack;
  options.window = window_tokens;
  const std::unique_ptr<Packer> packer = Packer::make(options);
  WindowCollector sink;
  while (static_cast<int64_t>(sink.windows.size()) < count) {
    const std::optional<Document> document = documents.next();
    if (!document) break;
    packer->add(*document, sink);
  }
  if (static_cast<int64_t>(sink.windows.size()) > count) sink.windows.resize(static_cast<size_t>(count));
  if (config.window_order == WindowOrder::kShuffle)
    RandomStream(config.seed, part + 1).shuffle(std::span(sink.windows));
  return std::move(sink.windows);
}

}  // namespace counterpoise
