// SPDX-License-Identifier: Apache-2.0
// The .idx of a Megatron-LM indexed dataset, little endian, no padding:
//   9 bytes magic "MMIDIDX\0\0", u64 version (1), u8 token type, u64 sequences, u64 document-index entries;
//   i32 length of each sequence; i64 byte offset of each sequence in the .bin; i64 document index
//   (document d is the sequences index[d] .. index[d+1]); then nothing or an i8 mode per sequence.
#include <array>

#include "lengths/binary.h"
#include "lengths/place.h"
#include "lengths/readers.h"

namespace counterpoise {
namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
constexpr uint64_t kHeaderSize = 34;
constexpr uint64_t kVersionAt = 9, kTypeAt = 17, kSequencesAt = 18, kEntriesAt = 26;
// Bytes of a token by type code 1..8: u8, i8, i16, i32, i64, f64, f32, u16. (Codes 6 and 7 have changed
// places over time; 4 is the size both readings allow.)
constexpr std::array<int64_t, 9> kTokenBytes = {0, 1, 1, 2, 4, 8, 4, 4, 2};

class MegatronIndex {
 public:
  explicit MegatronIndex(const Input& input) : name_(input.name), bytes_(input.bytes) {
    read_header();
    check_size();
  }

  // Sequences lie one after another in the .bin.
  void check_pointers() const {
    int64_t free = 0;
    for (uint64_t i = 0; i < sequences_; ++i) {
      const int64_t pointer = load<int64_t>(bytes_, pointers_at_ + 8 * i);
      if (pointer < free)
        bad_input(byte(pointers_at_ + 8 * i),
                  "sequence {} begins at byte {} of the .bin, inside the one before it (ends at {})", i,
                  pointer, free);
      if (pointer > INT64_MAX - token_bytes_ * kMaxLength)
        bad_input(byte(pointers_at_ + 8 * i), "sequence {} begins at byte {} of the .bin, beyond any file", i,
                  pointer);
      free = pointer + token_bytes_ * sequence_length(i);
    }
  }

  void read_documents(std::vector<int64_t>& out) const {
    out.reserve(entries_ - 1);
    int64_t begin = document_entry(0);
    if (begin != 0) bad_input(byte(documents_at_), "the document index begins with {} instead of 0", begin);
    for (uint64_t d = 1; d < entries_; ++d) {
      const int64_t end = document_entry(d);
      if (end < begin || end > static_cast<int64_t>(sequences_))
        bad_input(byte(documents_at_ + 8 * d), "document {} ends at sequence {}; it must lie in {}..{}",
                  d - 1, end, begin, sequences_);
      int64_t length = 0;
      for (int64_t i = begin; i < end; ++i)
        length =
            checked_length(length + sequence_length(static_cast<uint64_t>(i)), byte(documents_at_ + 8 * d));
      out.push_back(length);
      begin = end;
    }
    if (begin != static_cast<int64_t>(sequences_))
      bad_input(byte(documents_at_ + 8 * (entries_ - 1)), "the document index ends at sequence {} of {}",
                begin, sequences_);
  }

 private:
  Place byte(uint64_t offset) const { return Place::byte(name_, static_cast<int64_t>(offset)); }

  void read_header() {
    if (!bytes_.starts_with(kMagic))
      bad_input(byte(0), "no Megatron-LM index: it does not start with MMIDIDX");
    if (bytes_.size() < kHeaderSize)
      bad_input(byte(bytes_.size()), "the header is cut short at {} of {} bytes", bytes_.size(), kHeaderSize);
    const uint64_t version = load<uint64_t>(bytes_, kVersionAt);
    if (version != 1) bad_input(byte(kVersionAt), "unknown index version {}; 1 is known", version);
    const uint8_t type = load<uint8_t>(bytes_, kTypeAt);
    if (type == 0 || type >= kTokenBytes.size())
      bad_input(byte(kTypeAt), "unknown token type {}; 1..{} are known", type, kTokenBytes.size() - 1);
    token_bytes_ = kTokenBytes[type];
    sequences_ = load<uint64_t>(bytes_, kSequencesAt);
    entries_ = load<uint64_t>(bytes_, kEntriesAt);
  }

  void check_size() {
    const uint64_t body = bytes_.size() - kHeaderSize;
    if (sequences_ > body / 12)
      bad_input(byte(kSequencesAt), "{} sequences do not fit into the file of {} bytes", sequences_,
                bytes_.size());
    if (entries_ > (body - 12 * sequences_) / 8)
      bad_input(byte(kEntriesAt), "{} document-index entries do not fit into the file of {} bytes", entries_,
                bytes_.size());
    if (entries_ < 1) bad_input(byte(kEntriesAt), "the document index has no entry; it needs documents + 1");
    pointers_at_ = kHeaderSize + 4 * sequences_;
    documents_at_ = pointers_at_ + 8 * sequences_;
    const uint64_t end = documents_at_ + 8 * entries_;
    const uint64_t rest = bytes_.size() - end;
    if (rest != 0 && rest != sequences_)
      bad_input(byte(end), "{} bytes follow the document index; it must be 0, or {} (a mode per sequence)",
                rest, sequences_);
  }

  int64_t sequence_length(uint64_t i) const {
    const uint64_t at = kHeaderSize + 4 * i;
    return checked_length(int64_t{load<int32_t>(bytes_, at)}, byte(at));
  }
  int64_t document_entry(uint64_t d) const { return load<int64_t>(bytes_, documents_at_ + 8 * d); }

  std::string_view name_;
  std::string_view bytes_;
  int64_t token_bytes_ = 0;
  uint64_t sequences_ = 0, entries_ = 0;
  uint64_t pointers_at_ = 0, documents_at_ = 0;
};

}  // namespace

void read_megatron_idx(const Input& input, Lengths& lengths) {
  const MegatronIndex index(input);
  index.check_pointers();
  index.read_documents(lengths.corpus);
}

}  // namespace counterpoise
