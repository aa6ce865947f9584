// SPDX-License-Identifier: Apache-2.0
#include "assign/pack_policies.h"

namespace counterpoise {
namespace {

// One open window; a document that does not fit closes it.
class NextFit : public OneOpenWindow {
 public:
  explicit NextFit(const PackOptions& options) : OneOpenWindow(options) {}

 private:
  void place(const Piece& piece, WindowSink& sink) override {
    if (used_ + piece.length > options_.window) flush(sink);
    emit(piece, sink);
    used_ += piece.length;
  }
};

}  // namespace

std::unique_ptr<Packer> make_next_fit(const PackOptions& options) {
  return std::make_unique<NextFit>(options);
}

}  // namespace counterpoise
