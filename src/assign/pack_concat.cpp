// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "assign/pack_policies.h"

namespace counterpoise {
namespace {

// Documents end to end; the window's edge cuts whichever document lies there.
class Concat : public Packer {
 public:
  explicit Concat(const PackOptions& options) : Packer(options) {}

 private:
  void place(const Piece& document, WindowSink& sink) override {
    int64_t begin = 0;
    while (begin < document.length) {
      const int64_t length = std::min(document.length - begin, options_.window - used_);
      if (begin == 0 && length < document.length) ++account_.split_documents;
      emit({document.document, begin, length}, sink);
      begin += length;
      used_ += length;
      if (used_ == options_.window) flush(sink);
    }
  }

  void flush(WindowSink& sink) override {
    if (used_ == 0) return;
    end_window(used_, sink);
    used_ = 0;
  }

  int64_t used_ = 0;
};

}  // namespace

std::unique_ptr<Packer> make_concat(const PackOptions& options) {
  return std::make_unique<Concat>(options);
}

}  // namespace counterpoise
