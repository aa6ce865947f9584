// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of plan files and of the verifier. The first byte chooses: bytes as they are; bytes as the
// body of a file with a right header; or a valid plan with bytes of its body changed. Only Error may come
// out, what loads must save back to the same bytes, and the verifier must survive any indices.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "counterpoise/error.h"
#include "counterpoise/plan_file.h"
#include "counterpoise/verify.h"
#include "plan/hash.h"

namespace {

using namespace counterpoise;

constexpr size_t kHeader = 8 + 4 + 3 * 8;

void put_hash(std::string& file, size_t at, uint64_t hash) {
  for (int i = 0; i < 8; ++i) file[at + i] = static_cast<char>(hash >> (8 * i));
}

std::string valid_file() {
  PlanRequest request;
  request.groups = {{{{0, 5}, {1, 9}}}};
  request.cp = 2;
  request.shape = {4, 2, 8, 8, 4, Mask::causal()};
  request.scheme = "ring2d";
  request.backward = true;
  return save_plan(make_plan(request));
}

void load_and_verify(const std::string& file) {
  try {
    const StepPlan plan = load_plan(file, "input");
    if (save_plan(plan) != file) std::abort();
    verify(plan);
  } catch (const Error&) {
  }
}

// The body's own hash is made right; those of lengths and layout usually are wrong and refused last, so the
// plan is also verified with the header the decoder would want.
void try_body(std::string file) {
  put_hash(file, 12, hash_bytes(std::string_view(file).substr(kHeader)));
  load_and_verify(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const std::string valid = valid_file();
  const std::string rest(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 3 == 0) {
    load_and_verify(rest);
  } else if (data[0] % 3 == 1) {
    try_body(valid.substr(0, kHeader) + rest);
  } else {
    std::string file = valid;
    for (size_t i = 0; i + 2 < rest.size(); i += 3) {
      const size_t at = static_cast<uint8_t>(rest[i]) * 256u + static_cast<uint8_t>(rest[i + 1]);
      file[kHeader + at % (file.size() - kHeader)] = rest[i + 2];
    }
    try_body(file);
  }
  return 0;
}
