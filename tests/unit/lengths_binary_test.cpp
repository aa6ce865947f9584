// SPDX-License-Identifier: Apache-2.0
// NumPy .npy and Megatron-LM .idx, valid and hostile.
#include <gtest/gtest.h>

#include "length_encodings.h"
#include "length_files.h"

namespace counterpoise {
namespace {

using Values = std::vector<int64_t>;

TEST(LengthsNpy, ReadsEveryWidthAndByteOrder) {
  for (const std::string type : {"i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"})
    for (const char order : {'<', '>', '|', '='})
      for (const int version : {1, 2, 3}) {
        const Values values = {0, 1, 127};
        const Lengths lengths = LengthFile("a.npy", npy_file(order + type, values, version)).read();
        EXPECT_EQ(lengths.corpus, values) << order << type << version;
        EXPECT_EQ(lengths.format, "npy");
      }
  const Values large = {70000, int64_t{1} << 31};
  EXPECT_EQ(LengthFile("a.npy", npy_file(">i8", large)).read().corpus, large);
  EXPECT_EQ(LengthFile("noext", npy_file("<u4", large)).read().corpus, large);
  EXPECT_EQ(LengthFile("a.npy", npy_file("<u2", {65535})).read().corpus, Values{65535});
}

TEST(LengthsNpy, RefusesWithOffsetAndReason) {
  const std::string good = npy_file("<i4", {5, 6});
  const auto refused = [](const std::string& content, const char* words) {
    SCOPED_TRACE(words);
    const LengthFile file("a.npy", content);
    expect_refused(ErrorKind::kBadInput, words, [&] { file.read(); });
  };
  refused("5\n6\n", "a.npy: byte 0: no .npy file");
  refused(good.substr(0, 7), "a.npy: byte 7: the .npy header is cut short at 7 of 8 bytes");
  refused(good.substr(0, 30), "a.npy: byte 30: the .npy header is cut short at 30 of 128 bytes");
  refused(good.substr(0, good.size() - 1), "a.npy: byte 135: cut short: 1 of 2 values are there");
  refused(good + "x", "a.npy: byte 136: 1 bytes too many follow the 2 values");
  refused(npy_file("<i4", {5, -6}), "a.npy: byte 132: negative length -6");
  refused(npy_file("<u8", {-1}), "a.npy: byte 128: length 1.844674407370955");
  refused(npy_file("<i8", {int64_t{1} << 40}), "above the limit");
  refused(npy_file("<f4", {1}), "values of type \"<f4\" are no lengths");
  refused(npy_file("|b1", {1}), "values of type \"|b1\" are no lengths");
  refused(npy_file("<i4", {}), "a.npy: holds no lengths");
  refused(npy_file("<i4", {1, 2}, 1, "(2, 1)"), "a 1-D array is needed, the shape is (2, 1)");
  refused(npy_file("<i4", {1}, 1, "()"), "a 1-D array is needed");
  refused(npy_file("<i4", {1}, 1, "(99999999999999999999,)"), "a 1-D array is needed");
  refused(npy_file("<i4", {1}, 1, "(4611686018427387905,)"), "1 of 4611686018427387905 values are there");
  refused(npy_file("<i4", {1}, 4), "unknown .npy version 4");
}

TEST(LengthsMegatron, DocumentsAreSumsOfSequences) {
  const MegatronFile file{.sequences = {5, 7, 11, 0}, .documents = {0, 1, 1, 4}};
  for (const std::string& modes : {std::string(), std::string(4, '\0')}) {
    const Lengths lengths = LengthFile("corpus.idx", file.str() + modes).read();
    EXPECT_EQ(lengths.corpus, (Values{5, 0, 18}));
    EXPECT_EQ(lengths.format, "megatron_idx");
  }
  for (const int type : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const MegatronFile typed{.sequences = {5, 7}, .documents = {0, 1, 2}, .type = type};
    EXPECT_EQ(LengthFile("noext", typed.str()).read().corpus, (Values{5, 7})) << type;
  }
}

TEST(LengthsMegatron, RefusesWithOffsetAndReason) {
  const MegatronFile good{.sequences = {5, 7}, .documents = {0, 1, 2}};
  const auto refused = [](const std::string& content, const char* words) {
    SCOPED_TRACE(words);
    const LengthFile file("a.idx", content);
    expect_refused(ErrorKind::kBadInput, words, [&] { file.read(); });
  };
  const auto changed = [&](auto change) {
    MegatronFile file = good;
    change(file);
    return file.str();
  };
  refused("MMIDIDX", "a.idx: byte 0: no .idx file");
  refused(good.str().substr(0, 20), "a.idx: byte 20: the header is cut short at 20 of 34 bytes");
  refused(good.str().substr(0, 81),
          "a.idx: byte 26: 3 document-index entries do not fit into the file of 81 bytes");
  refused(good.str().substr(0, 50), "a.idx: byte 18: 2 sequences do not fit into the file of 50 bytes");
  refused(good.str() + "x", "a.idx: byte 82: 1 bytes follow the document index; it must be 0, or 2");
  refused(changed([](auto& f) { f.version = 2; }), "a.idx: byte 9: unknown index version 2");
  refused(changed([](auto& f) { f.type = 9; }), "a.idx: byte 17: unknown token type 9");
  refused(changed([](auto& f) { f.type = 0; }), "a.idx: byte 17: unknown token type 0");
  refused(changed([](auto& f) { f.sequence_count = UINT64_MAX; }),
          "a.idx: byte 18: 18446744073709551615 sequences");
  refused(changed([](auto& f) { f.entry_count = UINT64_MAX / 8 + 1; }), "a.idx: byte 26: ");
  refused(changed([](auto& f) { f.documents = {}; }), "a.idx: byte 26: the document index has no entry");
  refused(changed([](auto& f) { f.sequences = {5, -7}; }), "a.idx: byte 38: negative length -7");
  refused(changed([](auto& f) {
            f.pointers = {0, 19};
          }),
          "a.idx: byte 50: sequence 1 begins at byte 19 of the .bin, inside");
  refused(changed([](auto& f) { f.pointers = {-4, 20}; }), "a.idx: byte 42: sequence 0 begins at byte -4");
  refused(changed([](auto& f) { f.pointers = {0, INT64_MAX}; }), "beyond any file");
  refused(changed([](auto& f) {
            f.documents = {1, 2, 2};
          }),
          "a.idx: byte 58: the document index begins with 1");
  refused(changed([](auto& f) { f.documents = {0, 2, 1}; }), "a.idx: byte 74: document 1 ends at sequence 1");
  refused(changed([](auto& f) { f.documents = {0, 1, 3}; }), "a.idx: byte 74: document 1 ends at sequence 3");
  refused(changed([](auto& f) {
            f.documents = {0, 1, 1};
          }),
          "a.idx: byte 74: the document index ends at sequence 1 of 2");
  refused((MegatronFile{.sequences = {}, .documents = {0}}.str()), "a.idx: holds no lengths");
  const int32_t most = INT32_MAX;
  refused((MegatronFile{.sequences = {most, most}, .documents = {0, 2}}.str()), "above the limit");
}

TEST(LengthsBinary, KnownButUnreadableFilesAreNamed) {
  const auto refused = [](const char* name, std::string_view content, const char* words) {
    SCOPED_TRACE(words);
    const LengthFile file(name, content);
    expect_refused(ErrorKind::kBadInput, words, [&] { file.read(); });
  };
  refused("a.txt.gz", "\x1f\x8b\x08", "is gzip-compressed; unpack it: zcat");
  refused("a.parquet", "PAR1....", "is a Parquet file");
  refused("a.npz", "PK\x03\x04....", "is a zip archive");
  refused("a.bin", "\x01\x02", "the lengths are in the .idx file beside it");
}

}  // namespace
}  // namespace counterpoise
