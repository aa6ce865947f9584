// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/cpu.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace counterpoise {
#if defined(__x86_64__) && defined(__linux__)
namespace {

constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;  // CPUID 7.0 EDX
constexpr unsigned kOsxsave = 1u << 27;                       // CPUID 1 ECX
constexpr unsigned kTileState = 3u << 17;                     // XCR0: XTILECFG and XTILEDATA
constexpr int kRequestPermission = 0x1023;                    // ARCH_REQ_XCOMP_PERM (Linux 5.16)
constexpr int kTileData = 18;                                 // XFEATURE_XTILEDATA

unsigned enabled_state() {
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool ask() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsxsave)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & kAmxBf16) == 0 || (d & kAmxTile) == 0) return false;
  return (enabled_state() & kTileState) == kTileState &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool cpu_has_amx() {
  static const bool has = ask();
  return has;
}
#else
bool cpu_has_amx() {
  return false;
}
#endif

}  // namespace counterpoise
