// SPDX-License-Identifier: Apache-2.0
#include "assign/pack_policies.h"

namespace counterpoise {
namespace {

// One open window; a document that does not fit closes it.
class NextFit : public Packer {
 public:
  explicit NextFit(const PackOptions& options) : Packer(options) {}

 private:
  void place(const Piece& piece, WindowSink& sink) override {
    if (used_ + piece.length > options_.window) flush(sink);
    emit(piece, sink);
    used_ += piece.length;
  }

  void flush(WindowSink& sink) override {
    if (used_ == 0) return;
    end_window(used_, sink);
    used_ = 0;
  }

  int64_t used_ = 0;
};

}  // namespace

std::unique_ptr<Packer> make_next_fit(const PackOptions& options) {
  return std::make_unique<NextFit>(options);
}

}  // namespace counterpoise
