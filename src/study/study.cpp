// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/study.h"

#include <algorithm>

#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"
#include "counterpoise/law.h"
#include "study/agreement.h"
#include "study/measure_groups.h"
#include "study/variants.h"
#include "study/verdict.h"

namespace counterpoise {
namespace {

constexpr double kCalibrationShare = 0.25;  // of the budget
// Tokens of the longest calibrated call; beyond it the fitted model continues.
constexpr int64_t kLongestCalibrated = 8192;
constexpr int64_t kSuspectWindows = 20000;  // drawn to look for shared documents and heavy tails

KernelProfilePtr measure_profile(const StudyConfig& config, const Progress& progress) {
  CalibrationOptions options;
  options.heads = config.heads;
  options.isa = config.isa;
  options.backward = config.backward;
  options.max_tokens = std::clamp<int64_t>(config.simulation.pack.window, 64, kLongestCalibrated);
  options.budget_seconds = config.budget_seconds * kCalibrationShare;
  options.seed = config.simulation.seed;
  return calibrate_cpu(options, progress);
}

void check_profile(const KernelProfile& profile, const StudyConfig& config) {
  const std::string& name = profile.info().name;
  if (calibrated_isa(profile).empty())
    throw_error(
        ErrorKind::kUsage,
        "profile '{}' prices another device: a study runs the kernel of this CPU, and takes a profile that "
        "counterpoise calibrate measured",
        name);
  const CostShape& has = profile.shape();
  const CostShape wants = cost_shape(config.heads, DType::kFloat32);
  if (has != wants)
    throw_error(
        ErrorKind::kUsage,
        "profile '{}' is of {} query and {} kv heads of {} with {} bytes an element, the kernel of a study "
        "would be of {} and {} of {} with {}: give --kernel-heads, --kernel-kv-heads and --kernel-head-dim "
        "of the profile, or calibrate with the kernel's",
        name, has.heads, has.kv_heads, has.head_dim, has.element_bytes, wants.heads, wants.kv_heads,
        wants.head_dim, wants.element_bytes);
  if (config.backward && !profile.model().has_backward())
    throw_error(ErrorKind::kUsage,
                "profile '{}' knows no backward pass: calibrate without --forward-only, or study without "
                "--backward",
                name);
}

// Seconds of one rank's share of a piece, mean over the ranks; with the backward pass where it is measured
// too.
PieceTime kernel_piece_time(const KernelProfile& profile, bool backward) {
  if (!backward) return piece_time_of(profile);
  return [&profile](int64_t length, int64_t cp) {
    double seconds = profile.piece_time(length, cp);
    for (int64_t rank = 0; rank < cp; ++rank)
      for (const WorkShape& tile : zigzag_share(length, cp, rank, profile.shape()))
        seconds += profile.model().tile_seconds(tile, Direction::kBackward) / static_cast<double>(cp);
    return seconds;
  };
}

Suspects find_suspects(const Lengths& lengths, const StudyConfig& config, const PieceTime& time) {
  const SimulationConfig& simulation = config.simulation;
  const WindowSource source{lengths, simulation.pack, simulation.order, simulation.seed, simulation.threads};
  const int64_t one = 1;
  const std::vector<double> costs = window_costs(source, {&one, 1}, time, kSuspectWindows).column(0);
  Suspects suspects;
  suspects.growing_windows = simulation.regime == Regime::kGrow;
  suspects.tail_index = tail_index(costs);
  if (simulation.window_order == WindowOrder::kStream && costs.size() > 2)
    suspects.neighbour_correlation = autocorrelation(costs, 1).rho[1];
  return suspects;
}

std::vector<RatioAtCp> simulated_ratios(const SimulationResult& result) {
  std::vector<RatioAtCp> ratios;
  for (const CpResult& r : result.results) ratios.push_back({r.cp, r.variance_ratio});
  return ratios;
}

std::vector<RatioAtCp> measured_ratios(const Measurements& measurements) {
  std::vector<RatioAtCp> ratios;
  for (const MeasuredCp& r : measurements.results) ratios.push_back({r.cp, r.variance_ratio});
  return ratios;
}

// Timing noise adds variance of its own, which no CP averages away over fewer, shorter calls. Where it makes
// up a fifth of what was measured, a "no" says nothing about balance.
Judgement allow_for_noise(Judgement judged, const Measurements& measured) {
  if (judged.follows != Follows::kNo) return judged;
  // |second / first - 1| of a normal error s in both has median 0.954 s and 90 % point 2.33 s.
  const double noise = std::max(measured.repeat_noise_median / 0.954, measured.repeat_noise_p90 / 2.33);
  for (const MeasuredCp& r : measured.results) {
    const double cv = r.statistics.cv.value_or(0);
    if (r.cp != judged.cp || noise * noise < 0.2 * cv * cv) continue;
    judged.follows = Follows::kInconclusive;
    judged.reason = fmt::format("timing noise of {:.1f} % hides a variation of {:.1f} % between groups",
                                100 * noise, 100 * cv);
  }
  return judged;
}

std::optional<SimulationResult> simulate_wide(const Lengths& lengths, const StudyConfig& config,
                                              const Profile& profile) {
  if (config.wide_window <= config.simulation.pack.window) return std::nullopt;
  SimulationConfig wide = config.simulation;
  wide.pack.window = config.wide_window;
  if (wide.order == DocumentOrder::kCorpus)
    return std::nullopt;  // a corpus read once seldom holds enough wide windows
  return simulate(lengths, piece_time_of(profile), wide);
}

}  // namespace

std::string other_isa(const Study& study) {
  const std::string isa = calibrated_isa(*study.profile);
  return isa == study.measured.isa ? "" : isa;
}

Study run_study(const Lengths& lengths, const StudyConfig& given, const Progress& progress) {
  StudyConfig config = given;
  config.simulation.cp = config.simulation.cp_with_baseline();  // everything is relative to CP = 1
  check_config(config.simulation);
  Study study;

  // The profile comes first, from shapes of its own, and is frozen: nothing below rescales it.
  if (config.profile) check_profile(*config.profile, config);
  const KernelProfilePtr profile = config.profile ? config.profile : measure_profile(config, progress);
  study.profile = profile;
  study.profile_hash = profile_hash(*profile);
  study.profile_error = cross_validated_error(*profile);
  const PieceTime time = kernel_piece_time(*profile, config.backward);

  // Predict.
  if (progress) progress("simulating", 0);
  const ProfilePtr area = load_profile("area");
  study.work = simulate(lengths, piece_time_of(*area), config.simulation);
  study.simulated = simulate(lengths, time, config.simulation);
  study.wide = simulate_wide(lengths, config, *area);
  study.variants = compare_variants(lengths, time, config.simulation);

  // Measure, on steps the simulation did not draw.
  const double left = config.budget_seconds * (config.profile ? 1 : 1 - kCalibrationShare);
  study.measured = measure_groups(lengths, config, left, *profile, progress);
  study.measured.agreement = agreement(study.measured.results);
  CP_CHECK(profile_hash(*study.profile) == study.profile_hash);

  // Conclude.
  const Suspects suspects = find_suspects(lengths, config, piece_time_of(*area));
  study.neighbour_correlation = suspects.neighbour_correlation;
  study.tail_index = suspects.tail_index;
  study.work_judgement = judge(simulated_ratios(study.work), study.work.steps, suspects);
  study.measured_judgement =
      allow_for_noise(judge(measured_ratios(study.measured), study.measured.steps, suspects), study.measured);
  study.below_two_from = below_two_from(study.simulated.results);
  study.chosen_cp = choose_cp(study.simulated, config.simulation.sync);
  study.efficiency_cost = efficiency_cost(study.simulated);
  return study;
}

}  // namespace counterpoise
