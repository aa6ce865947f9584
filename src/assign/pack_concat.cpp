// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "assign/pack_policies.h"

namespace counterpoise {
namespace {

// Documents end to end; the window's edge cuts whichever document lies there.
class Concat : public OneOpenWindow {
 public:
  explicit Concat(const PackOptions& options) : OneOpenWindow(options) {}

 private:
  void place(const Piece& document, WindowSink& sink) override {
    if (used_ + document.length < options_.window) {
      used_ += document.length;
      return emit(document, sink);
    }
    place_across(document, sink);
  }

  // The document reaches or crosses the window's end.
  [[gnu::noinline]] void place_across(const Piece& document, WindowSink& sink) {
    if (used_ + document.length > options_.window) ++account_.split_documents;
    for (int64_t begin = 0; begin < document.length;) {
      const int64_t length = std::min(document.length - begin, options_.window - used_);
      emit({document.document, begin, length}, sink);
      begin += length;
      used_ += length;
      if (used_ == options_.window) flush(sink);
    }
  }
};

}  // namespace

std::unique_ptr<Packer> make_concat(const PackOptions& options) {
  return std::make_unique<Concat>(options);
}

}  // namespace counterpoise
