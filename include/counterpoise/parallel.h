// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

namespace counterpoise {

// Threads to use for `requested`: itself when >= 1, else all cores this process may run on.
int thread_count(int requested);

// Calls body(i) for every i in [0, count) on up to `threads` threads (the caller is one of them),
// handing out indices in order as threads become free. The first exception is rethrown after all
// threads stopped. Results must not depend on which thread ran an index.
void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body);

}  // namespace counterpoise
