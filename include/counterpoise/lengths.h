// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "counterpoise/random.h"

namespace counterpoise {

// The longest document we take: positions up to 2^31, so that its causal area fits 64 bits.
inline constexpr int64_t kMaxLength = int64_t{1} << 31;

// Lengths lo..hi (both included, in tokens), equally likely; weight is a count or a probability mass.
struct LengthBin {
  int64_t lo = 0;
  int64_t hi = 0;
  double weight = 0;
};

// Document lengths in tokens, from a file or a distribution. Exactly one of `corpus` and `bins` is filled.
struct Lengths {
  std::string source;  // as the user named it
  std::string format;  // "text", "json", "jsonl", "csv", "weighted_csv", "binned_csv", "npy", "megatron_idx",
                       // "preset", "dist"
  std::string provenance;       // where a preset's table comes from; empty for files
  std::vector<int64_t> corpus;  // every document, in file order
  std::vector<LengthBin> bins;  // a distribution, ascending and disjoint; there is no file order to keep
  // How many documents the source holds; nothing for a distribution (preset, dist, weights that are no
  // counts).
  std::optional<int64_t> documents;

  bool has_order() const { return !corpus.empty(); }
};

struct ReadOptions {
  std::string field;   // JSONL key or CSV column; empty: the well-known names are tried in turn
  std::string format;  // one of Lengths::format; empty: detected
};

// Reads a SOURCE: a file, "-" (stdin), "preset:NAME" or "dist:NAME(key=value,...)".
// Throws kBadInput (file, line or offset, reason) or kUsage (unknown preset, distribution or format).
Lengths read_lengths(const std::string& source, const ReadOptions& options = {});

struct PresetInfo {
  std::string name;    // after "preset:"
  std::string source;  // whose documents the table stands for
};
std::vector<PresetInfo> preset_list();

// Draws one length after another, with replacement, in O(1) (Walker's alias method over the bins).
// Immutable, so one sampler serves all threads; each brings its own stream.
class LengthSampler {
 public:
  explicit LengthSampler(const Lengths& lengths);

  int64_t draw(RandomStream& random) const {
    if (!values_.empty()) return values_[random.below(values_.size())];
    const Slot& slot = slots_[random.below(slots_.size())];
    const LengthBin& bin = random.uniform() < slot.keep ? slot.self : slot.alias;
    return bin.lo + static_cast<int64_t>(random.below(static_cast<uint64_t>(bin.hi - bin.lo + 1)));
  }

 private:
  struct Slot {
    double keep = 1;
    LengthBin self, alias;
  };
  std::vector<int64_t> values_;
  std::vector<Slot> slots_;
};

}  // namespace counterpoise
