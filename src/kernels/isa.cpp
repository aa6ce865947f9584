// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "counterpoise/attention.h"
#include "counterpoise/error.h"
#include "kernels/backend.h"
#include "kernels/tiles/cpu.h"

namespace counterpoise {
namespace {

constexpr Isa kNamedIsas[] = {Isa::kAuto,   Isa::kPortable,   Isa::kAvx2,
                              Isa::kAvx512, Isa::kAvx512Bf16, Isa::kAmx};

bool cpu_has(Isa isa) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  switch (isa) {
    case Isa::kPortable:
      return true;
    case Isa::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case Isa::kAvx512Bf16:
      return cpu_has(Isa::kAvx512) && __builtin_cpu_supports("avx512bf16");
    case Isa::kAmx:
      return cpu_has(Isa::kAvx512) && cpu_has_amx();
    default:
      return false;
  }
#else
  return isa == Isa::kPortable;
#endif
}

std::string names_of(std::span<const Isa> isas) {
  std::string text;
  for (const Isa isa : isas) text += (text.empty() ? "" : ", ") + std::string(isa_name(isa));
  return text;
}

}  // namespace

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::kAuto:
      return "auto";
    case Isa::kPortable:
      return "portable";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kAvx512Bf16:
      return "avx512_bf16";
    case Isa::kAmx:
      return "amx";
  }
  return "?";
}

Isa parse_isa(std::string_view name) {
  for (const Isa isa : kNamedIsas)
    if (isa_name(isa) == name) return isa;
  throw_error(ErrorKind::kUsage, "unknown instruction set \"{}\"; one of {}", name, names_of(kNamedIsas));
}

std::vector<Isa> built_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : kNamedIsas)
    if (isa != Isa::kAuto && backend_of(isa)) isas.push_back(isa);
  return isas;
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas = built_isas();
  std::erase_if(isas, [](Isa isa) { return !cpu_has(isa); });
  return isas;
}

Isa resolve_isa(Isa requested) {
  if (requested == Isa::kAuto) return available_isas().back();
  if (!backend_of(requested))
    throw_error(ErrorKind::kNotBuilt, "instruction set {} is not in this build; it holds {}",
                isa_name(requested), names_of(built_isas()));
  if (!cpu_has(requested))
    throw_error(ErrorKind::kInfeasible,
                "this CPU ({}) or its operating system lacks instruction set {}; it can run {}", cpu_name(),
                isa_name(requested), names_of(available_isas()));
  return requested;
}

Isa isa_of_storage(Isa isa, DType dtype) {
  const bool tiles = isa == Isa::kAvx512Bf16 || isa == Isa::kAmx;
  return tiles && dtype != DType::kBFloat16 ? Isa::kAvx512 : isa;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

}  // namespace counterpoise
