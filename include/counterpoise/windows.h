// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace counterpoise {

// One training sample.
struct Document {
  int64_t id = 0;
  int64_t length = 0;  // tokens
};

// Tokens [begin, begin + length) of a document inside one window. A piece attends to itself only, with
// positions from 0, as packed training does when a document is cut at the window's edge.
struct Piece {
  int64_t document = 0;
  int64_t begin = 0;
  int64_t length = 0;
};

// The packed sequence one rank group processes; the pieces' running sum is its cu_seqlens.
struct Window {
  std::vector<Piece> pieces;
  int64_t padding = 0;  // tokens of the window that hold no document
};

enum class PackPolicy {
  kConcat,             // documents end to end, cut wherever the window ends; no padding
  kNextFit,            // a document that does not fit closes the window
  kBestFitDecreasing,  // longest first into the fullest window that holds it, over a look-ahead buffer
  kOneDocument,        // no packing: one document a window
};

// Documents longer than the window.
enum class LongDocuments { kSplit, kTruncate, kDrop };

struct PackOptions {
  PackPolicy policy = PackPolicy::kConcat;
  LongDocuments long_documents = LongDocuments::kSplit;
  int64_t window = 4096;    // tokens, >= 1
  int64_t look_ahead = 64;  // best_fit_decreasing: buffer this many windows' worth of tokens
};

// Throw kUsage listing the legal names.
PackPolicy parse_pack_policy(std::string_view name);
LongDocuments parse_long_documents(std::string_view name);
std::string name_of(PackPolicy policy);
std::string name_of(LongDocuments policy);

// Where every token went.
struct PackAccount {
  int64_t documents = 0;
  int64_t empty_documents = 0;  // length 0
  int64_t tokens = 0;           // of all documents added
  int64_t placed = 0;           // in windows already ended
  int64_t truncated = 0;        // cut off long documents
  int64_t dropped = 0;          // whole long documents
  int64_t padding = 0;          // in windows already ended
  int64_t windows = 0;          // ended
  int64_t split_documents = 0;  // documents that lie in more than one piece
  int64_t truncated_documents = 0;
  int64_t dropped_documents = 0;

  // Tokens in the open window or the look-ahead buffer; none after Packer::finish.
  int64_t pending() const { return tokens - placed - truncated - dropped; }
  PackAccount& operator+=(const PackAccount& other);
};

// Receives windows piece by piece.
class WindowSink {
 public:
  virtual ~WindowSink() = default;
  virtual void piece(const Piece& piece) = 0;
  virtual void end_window(int64_t padding) = 0;
};

// Keeps every window that was ended.
class WindowCollector : public WindowSink {
 public:
  std::vector<Window> windows;

  void piece(const Piece& piece) override { open_.pieces.push_back(piece); }
  void end_window(int64_t padding) override {
    open_.padding = padding;
    windows.push_back(std::move(open_));
    open_ = {};
  }

 private:
  Window open_;
};

// Packs a stream of documents into windows. Deterministic; not thread safe.
class Packer {
 public:
  static std::unique_ptr<Packer> make(const PackOptions& options);
  virtual ~Packer() = default;

  // Takes one document; may end any number of windows (also none).
  void add(const Document& document, WindowSink& sink);
  // Ends the open windows, padded; the last call.
  void finish(WindowSink& sink);
  const PackAccount& account() const { return account_; }

 protected:
  explicit Packer(const PackOptions& options) : options_(options) {}
  // A document or chunk of one, of 1..window tokens (concat: any length).
  virtual void place(const Piece& piece, WindowSink& sink) = 0;
  virtual void place_empty(const Document&, WindowSink&) {}
  virtual void flush(WindowSink& sink) = 0;

  void emit(const Piece& piece, WindowSink& sink) {
    account_.placed += piece.length;
    sink.piece(piece);
  }
  void end_window(int64_t used, WindowSink& sink);

  const PackOptions options_;
  PackAccount account_;

 private:
  void add_long(const Document& document, WindowSink& sink);
};

// All windows of a list of documents.
std::vector<Window> pack(const std::vector<Document>& documents, const PackOptions& options,
                         PackAccount* account = nullptr);

}  // namespace counterpoise
