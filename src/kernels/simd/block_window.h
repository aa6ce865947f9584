// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"
#include "kernels/simd/kernels.h"

namespace counterpoise {

// Rows q_rows of the tile against those of its keys (positions) that lie in block_rows.
BlockWindow block_window(const AttentionProblem& problem, const AttentionTile& tile, Range keys, Range q_rows,
                         Range block_rows);

}  // namespace counterpoise
