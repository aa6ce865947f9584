// SPDX-License-Identifier: Apache-2.0
#include "assign/pack_policies.h"

namespace counterpoise {
namespace {

// No packing: the rest of the window is padding. An empty document makes an empty window.
class OneDocument : public Packer {
 public:
  explicit OneDocument(const PackOptions& options) : Packer(options) {}

 private:
  void place(const Piece& piece, WindowSink& sink) override {
    emit(piece, sink);
    end_window(piece.length, sink);
  }
  void place_empty(const Document& document, WindowSink& sink) override { place({document.id, 0, 0}, sink); }
  void flush(WindowSink&) override {}
};

}  // namespace

std::unique_ptr<Packer> make_one_document(const PackOptions& options) {
  return std::make_unique<OneDocument>(options);
}

}  // namespace counterpoise
