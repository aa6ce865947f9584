// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/tiles/backward_tiles.h"
#include "kernels/tiles/forward_tiles.h"
#include "kernels/tiles/packing.h"

namespace counterpoise {

template <class T, class V>
constexpr TileKernels tile_kernels() {
  return {&T::configure,         &T::release,           &magnitude<V>,        &pack<V, false, false>,
          &pack<V, false, true>, &pack<V, true, false>, &pack<V, true, true>, &attend<T, V>,
          &gradients<T, V>,      &query_gradients<T>,   &rows_from_lanes<V>,  &row_dots<T, V>};
}

}  // namespace counterpoise
