// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/calibrate_cpu.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cost/error_json.h"
#include "counterpoise/error.h"
#include "counterpoise/random.h"
#include "exec/dates.h"
#include "exec/repeated_timings.h"
#include "exec/timing.h"

namespace counterpoise {
namespace {

constexpr double kLongestReference = 60;  // seconds
constexpr int kLeastRounds = 3, kMostRounds = 60, kUsualRuns = 10, kMixedCalls = 8;

// One length from every half octave from 16 up, and the limit. Random ones: round numbers would hide what
// rows and keys beyond a multiple of the kernel's tile cost.
std::vector<int64_t> document_lengths(int64_t limit, RandomStream& random) {
  std::vector<int64_t> lengths;
  for (double octave = 4;; octave += 0.5) {
    const int64_t length = std::llround(std::exp2(octave + random.uniform() / 2));
    if (length >= limit) break;
    lengths.push_back(length);
  }
  lengths.push_back(limit);
  return lengths;
}

// `documents` documents of `length` tokens, as rank `rank` of `cp` computes them.
Measurement grid_call(int64_t documents, int64_t length, int64_t cp, int64_t rank, const CostShape& shape,
                      Direction direction) {
  Measurement call;
  call.direction = direction;
  call.label = fmt::format("{} x {} tokens, rank {} of {}", documents, length, rank, cp);
  for (int64_t i = 0; i < documents; ++i)
    for (const WorkShape& tile : zigzag_share(length, cp, rank, shape)) call.tiles.push_back(tile);
  return call;
}

// Documents of random lengths, log-uniform up to the limit, that fill a call: the mixture of a packed window.
Measurement mixed_call(int64_t tokens, int64_t cp, int64_t rank, const CostShape& shape, Direction direction,
                       RandomStream& random) {
  Measurement call;
  call.direction = direction;
  int64_t documents = 0;
  for (int64_t room = tokens; room > 0; ++documents) {
    const double drawn = std::exp(random.uniform() * std::log(static_cast<double>(tokens)));
    const int64_t length = std::min(room, std::max<int64_t>(1, std::llround(drawn)));
    for (const WorkShape& tile : zigzag_share(length, cp, rank, shape)) call.tiles.push_back(tile);
    room -= length;
  }
  call.label = fmt::format("{} mixed documents, {} tokens, rank {} of {}", documents, tokens, rank, cp);
  return call;
}

std::vector<Measurement> grid(const CalibrationOptions& options, Direction direction) {
  const CostShape shape = cost_shape(options.heads, options.dtype);
  std::vector<Measurement> calls;
  RandomStream random(options.seed, 2);
  for (const int64_t cp : {1, 2, 4, 8, 16}) {
    const auto rank = [&] { return static_cast<int64_t>(calls.size()) % cp; };
    for (const int64_t length : document_lengths(options.max_tokens, random)) {
      const int64_t most = options.max_tokens / length;
      calls.push_back(grid_call(most, length, cp, rank(), shape, direction));
      if (most >= 8) calls.push_back(grid_call(most / 8, length, cp, rank(), shape, direction));
    }
    for (int i = 0; i < kMixedCalls; ++i)
      calls.push_back(mixed_call(options.max_tokens, cp, rank(), shape, direction, random));
  }
  std::erase_if(calls, [](const Measurement& call) { return call.tiles.empty(); });
  return calls;
}

// The tile that explains the calls best. One dimension after another, the first two once more when the blocks
// are known: a vector of queries, a panel of vectors, a block of keys are told apart by what they cost. A
// kv_block of 1 stands for what a panel pays per key, however many of its rows are in use.
DirectionModel fit_calls(std::span<const Measurement> calls, FitOptions& options) {
  options.features = {Feature::kLaunch,   Feature::kTile,     Feature::kGroup,
                      Feature::kBlock,    Feature::kBlockDim, Feature::kPairDim,
                      Feature::kQueryRow, Feature::kKeyRow,   Feature::kFarByte};
  DirectionModel model;
  model.tile = {8, 4, 24, 1, 512 << 10};
  const auto choose = [&](auto&& variants) {
    options.tiles.clear();
    variants(model.tile);
    model = fit_direction(calls, options);
    options.tiles = {model.tile};
  };
  const auto steps = [&](KernelTile tile) {
    for (const int64_t q : {8, 16, 24, 48, 64})
      for (const int64_t kv : {1, 4, 8, 16})
        options.tiles.push_back({q, kv, std::max(tile.q_block, q), tile.kv_block, tile.near_bytes});
  };
  const auto blocks = [&](KernelTile tile) {
    for (const int64_t q_block : {24, 48, 64, 96, 192})
      for (const int64_t kv_block : {1, 16, 64, 96, 128, 256})
        if (q_block >= tile.q) options.tiles.push_back({tile.q, tile.kv, q_block, kv_block, tile.near_bytes});
  };
  const auto caches = [&](KernelTile tile) {
    for (tile.near_bytes = 128 << 10; tile.near_bytes <= 4 << 20; tile.near_bytes *= 2)
      options.tiles.push_back(tile);
  };
  choose(steps);
  choose(blocks);
  choose(steps);
  choose(caches);
  return model;
}

class Calibrator {
 public:
  Calibrator(const CalibrationOptions& options,
             const std::function<void(const std::string&, double)>& progress)
      : options_(options), progress_(progress), kernel_(options, options.max_tokens) {
    calls_ = grid(options, Direction::kForward);
    if (options.backward)
      for (Measurement& call : grid(options, Direction::kBackward)) calls_.push_back(std::move(call));
  }

  KernelProfilePtr run() {
    for (const Measurement& call : calls_) kernel_.run(call.tiles, call.direction);  // warm: pages, caches
    nlohmann::ordered_json record = {{"date", today()}, {"version", "counterpoise 0.1.0"}};
    measure(record);
    DirectionModel forward = fit(Direction::kForward, record["forward"]);
    std::optional<DirectionModel> backward;
    if (options_.backward) backward = fit(Direction::kBackward, record["backward"]);
    return std::make_shared<KernelProfile>(info(record.dump()),
                                           CostModel(std::move(forward), std::move(backward)),
                                           cost_shape(options_.heads, options_.dtype));
  }

 private:
  void measure(nlohmann::ordered_json& record) {
    RepeatedTimings timings([this] { return kernel_.run_reference(); }, RandomStream(options_.seed, 1));
    TimingEffort effort;
    effort.least = kLeastRounds;
    effort.most = kMostRounds;
    effort.usual = kUsualRuns;
    effort.seconds = options_.budget_seconds;
    const auto run = [this](size_t i) { return kernel_.run(calls_[i].tiles, calls_[i].direction); };
    const std::vector<CallTime> times = timings.time(calls_.size(), run, effort, [this](double done) {
      if (progress_) progress_("measuring the kernel", done);
    });
    std::vector<double> differences;
    int64_t rounds = 0;
    for (size_t i = 0; i < calls_.size(); ++i) {
      calls_[i].seconds = times[i].seconds;
      differences.push_back(times[i].difference());
      rounds = std::max(rounds, times[i].runs);
    }
    record["isa"] = isa_name(kernel_.isa());
    record["clock"] = "CPU time of one thread, median of the runs with the core as fast as usual";
    record["rounds"] = rounds;
    record["noise"] = median_of(differences);
    record["unusual"] = timings.unusual();  // calls without a usual run
    record["reference_seconds"] = timings.usual_reference();
    record["seed"] = options_.seed;
  }

  DirectionModel fit(Direction direction, nlohmann::ordered_json& record) const {
    std::vector<Measurement> calls;
    for (const Measurement& call : calls_)
      if (call.direction == direction) calls.push_back(call);
    FitOptions options;
    DirectionModel model = fit_calls(calls, options);
    record = {{"rows", calls.size()},
              {"fit", error_json(model_errors(model, calls))},
              {"cross_validated_5_folds", error_json(cross_validate(calls, options))}};
    for (const Measurement& call : calls) record["grid"].push_back({call.label, call.seconds});
    return model;
  }

  ProfileInfo info(std::string calibration) const {
    const HeadShape& heads = options_.heads;
    return {
        "cpu",
        "measured on this machine by counterpoise calibrate",
        "seconds",
        cpu_name(),
        fmt::format("counterpoise attention on the CPU, {}, {}, {} query and {} kv heads of {}, one thread",
                    isa_name(kernel_.isa()), dtype_name(options_.dtype), heads.heads, heads.kv_heads,
                    heads.head_dim),
        std::move(calibration)};
  }

  const CalibrationOptions options_;
  const std::function<void(const std::string&, double)>& progress_;
  TimedKernel kernel_;
  std::vector<Measurement> calls_;
};

// Empty where the profile does not come from a calibration.
nlohmann::json calibration_record(const KernelProfile& profile) {
  const std::string& text = profile.info().calibration;
  return text.empty() ? nlohmann::json::object() : nlohmann::json::parse(text);
}

// What `calibrate` wrote into its record at this path, or `absent`.
template <typename T>
T recorded(const KernelProfile& profile, const std::string& path, T absent) {
  try {
    return calibration_record(profile).value(nlohmann::json::json_pointer(path), std::move(absent));
  } catch (const nlohmann::json::exception&) {
    throw_error(ErrorKind::kBadInput, "profile {}: calibration{} is not what calibrate writes there",
                profile.info().name, path);
  }
}

}  // namespace

KernelProfilePtr calibrate_cpu(const CalibrationOptions& options,
                               const std::function<void(const std::string&, double)>& progress) {
  if (options.max_tokens < 64)
    throw_error(ErrorKind::kUsage, "calibration needs at least 64 tokens per call, not {}",
                options.max_tokens);
  return Calibrator(options, progress).run();
}

std::string calibrated_isa(const KernelProfile& profile) {
  return recorded<std::string>(profile, "/isa", "");
}

double calibrated_reference(const KernelProfile& profile) {
  const double seconds = recorded<double>(profile, "/reference_seconds", 0);
  if (!(seconds >= 0 && seconds <= kLongestReference))
    throw_error(ErrorKind::kBadInput,
                "profile {}: calibration/reference_seconds is {}; a reference call takes up to {} s, and 0 "
                "stands for not measured",
                profile.info().name, seconds, kLongestReference);
  return seconds;
}

double cross_validated_error(const KernelProfile& profile, Direction direction) {
  return recorded<double>(profile,
                          (direction == Direction::kForward ? "/forward" : "/backward") +
                              std::string("/cross_validated_5_folds/median"),
                          0);
}

}  // namespace counterpoise
