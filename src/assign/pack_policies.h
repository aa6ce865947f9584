// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "counterpoise/windows.h"

// One file per packing policy; each adds a line here and one in the table of packer.cpp.
namespace counterpoise {

// A packer that fills one window at a time.
class OneOpenWindow : public Packer {
 protected:
  using Packer::Packer;

  void flush(WindowSink& sink) override {
    if (used_ == 0) return;
    end_window(used_, sink);
    used_ = 0;
  }

  int64_t used_ = 0;  // tokens in the open window
};

std::unique_ptr<Packer> make_concat(const PackOptions& options);
std::unique_ptr<Packer> make_next_fit(const PackOptions& options);
std::unique_ptr<Packer> make_best_fit_decreasing(const PackOptions& options);
std::unique_ptr<Packer> make_one_document(const PackOptions& options);

}  // namespace counterpoise
