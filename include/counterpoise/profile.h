// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counterpoise/area.h"
#include "counterpoise/cost_model.h"

namespace counterpoise {

// Where the numbers of a profile come from. `unit` is "seconds" (of one head group as `kernel` says), or
// "pairs" where only ratios mean anything.
struct ProfileInfo {
  std::string name;
  std::string source;       // publication, file or machine the numbers were read from
  std::string unit;         // "seconds" or "pairs"
  std::string device;       // "NVIDIA H100 SXM5", "AMD EPYC", "none"
  std::string kernel;       // kernel, version, head shape and direction that was timed
  std::string calibration;  // how it was measured and fitted, a JSON object as text; empty: not recorded
  std::string links{};      // what messages cost there: a links file (see links.h) as text; empty: not known
};

// One tile of a kernel call, and the document it is part of.
struct CallTile {
  WorkShape work;
  int64_t length = 0;  // of the document
  int64_t rows = 0;    // queries of the document in the whole call
};

// What attention on one document costs when a group of `cp` ranks shares it evenly. Immutable, so one
// profile serves all threads.
class Profile {
 public:
  explicit Profile(ProfileInfo info) : info_(std::move(info)) {}
  virtual ~Profile() = default;
  const ProfileInfo& info() const { return info_; }

  // Cost, in info().unit, of one rank's ideal share of one causal document piece of `length` tokens split
  // over `cp` ranks: time(length) / cp x penalty(length, cp). 0 for length 0; cp >= 1. Additive over the
  // pieces of a window: what a kernel call costs once (its launch) is not part of it. About 100 ns.
  virtual double piece_time(int64_t length, int64_t cp) const = 0;

  // Cost, in info().unit, of one kernel call over these tiles, all their heads; 0 for none. A profile of
  // documents prices a pair as in a document of that length cut into length / rows shares; one of calls
  // prices the call, launch included. kUsage for a backward that the profile does not know.
  virtual double call_time(std::span<const CallTile> call, Direction direction) const = 0;

  // True where the split was not measured at this (length, cp), so that piece_time is a continuation.
  virtual bool extrapolated(int64_t length, int64_t cp) const = 0;

  // Lengths of whole documents the profile was measured at; empty where nothing was measured ("area").
  virtual Range measured_lengths() const { return {}; }

  // The "model" object of the profile's file, as JSON text.
  virtual std::string model_json() const = 0;

 private:
  ProfileInfo info_;
};

using ProfilePtr = std::shared_ptr<const Profile>;

// Names of the built-in profiles, in the order they are listed to users.
std::vector<std::string> profile_names();

// A built-in by name, or a profile file (schema "counterpoise/profile", version 1). A text that is neither
// throws kUsage with the names; a bad file throws kBadInput with file, field and rule.
ProfilePtr load_profile(const std::string& name_or_path);

// The profile as the text of its file, and back; `file` only names the text in errors.
std::string profile_text(const Profile& profile);
ProfilePtr parse_profile(std::string_view text, const std::string& file);
void save_profile(const Profile& profile, const std::string& path);

// Sixteen hex digits over the profile's text (FNV-1a, 64 bits): shows that a profile was not touched
// between freezing and use. Not meant against forgery.
std::string profile_hash(const Profile& profile);

}  // namespace counterpoise
