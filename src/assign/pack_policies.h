// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "counterpoise/windows.h"

// One file per packing policy; each adds a line here and one in the table of packer.cpp.
namespace counterpoise {

std::unique_ptr<Packer> make_concat(const PackOptions& options);
std::unique_ptr<Packer> make_next_fit(const PackOptions& options);
std::unique_ptr<Packer> make_best_fit_decreasing(const PackOptions& options);
std::unique_ptr<Packer> make_one_document(const PackOptions& options);

}  // namespace counterpoise
