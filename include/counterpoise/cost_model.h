// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace counterpoise {

// Heads and element size of one attention layer as one rank computes them.
struct CostShape {
  int64_t heads = 1;     // query heads
  int64_t kv_heads = 1;  // divides heads
  int64_t head_dim = 64;
  int64_t v_head_dim = 64;
  int64_t element_bytes = 4;  // of q, k, v, out
  auto operator<=>(const CostShape&) const = default;
};

// What the cost of one tile depends on: never where it lies, only its shape.
struct WorkShape {
  int64_t q_rows = 0;
  int64_t kv_rows = 0;
  int64_t area = 0;  // unmasked (q, kv) pairs of one head, <= q_rows x kv_rows
  CostShape shape;
  // Of kv_rows, those that no earlier tile of the call read: two tiles of one document share its keys, which
  // a call loads (or packs) once. -1: all of them.
  int64_t new_kv_rows = -1;
};

// q rows [kv_rows - q_rows, kv_rows) of a document against its keys [0, kv_rows), causal: the share of one
// rank, or, with q_rows == kv_rows, a whole document.
WorkShape causal_share(int64_t q_rows, int64_t kv_rows, const CostShape& shape);

// Tiles of one rank's per-document zigzag share: the document is cut in 2 cp chunks that differ by at most
// one token, rank r computes chunks r and 2 cp - 1 - r. Two tiles, or one where the chunks touch (the last
// rank, and so cp = 1: the whole document); empty ones are left out. The second shares the first's keys. As
// shard_window cuts it where 2 cp divides the length; else that deals its left-over tokens to other ranks, on
// from document to document, while a share depends on its document alone.
std::vector<WorkShape> zigzag_share(int64_t length, int64_t cp, int64_t rank, const CostShape& shape);

enum class Direction { kForward, kBackward };

// What the time of a call is made of. Coefficients are seconds per unit of a feature.
enum class Feature {
  kLaunch,       // 1 per call
  kStep,         // exchange steps of a call after its first
  kLongest,      // kv blocks of the longest work group: with few groups the device waits for it
  kTile,         // tiles x heads
  kGroup,        // work groups: (head, q block) pairs
  kBlock,        // kv blocks visited, summed over work groups
  kBlockDim,     // kv steps visited x (head_dim + v_head_dim): the area rounded up, the two matrix products
  kPairDim,      // unmasked pairs x (head_dim + v_head_dim): the same, not rounded
  kMaskedBlock,  // work groups that meet the mask's edge
  kQueryRow,     // heads x q rows x (head_dim + v_head_dim): q read and out written
  kKeyRow,       // kv heads x kv rows x (head_dim + v_head_dim): k and v read or packed
  kFarByte,      // bytes of q, k, v and out beyond the cache that a call finds them in
};
constexpr size_t kFeatures = 12;
using FeatureVector = std::array<double, kFeatures>;
const char* feature_name(Feature feature);

// The kernel's tile: q rows x kv rows of a step, to which the area is rounded up; q rows of a work group; kv
// rows of a block, which a work group enters and leaves once (0: a step is a block).
struct KernelTile {
  int64_t q = 128;
  int64_t kv = 64;
  int64_t q_block = 0;  // q rows of a work group where it holds several of `q`; 0: q
  int64_t kv_block = 0;
  int64_t near_bytes = 0;  // of q, k, v and out that the nearest large cache keeps; 0: kFarByte stays zero
  auto operator<=>(const KernelTile&) const = default;
};

// Features of tiles computed in one kernel call. Exact for full and causal tiles, an estimate for windows.
FeatureVector call_features(std::span<const WorkShape> tiles, int64_t steps, KernelTile tile);

// Where a call lies among the measured ones, in powers of two: mean q rows x kv rows per head and tile
// (their geometric mean), heads, kv rows per q row, number of tiles.
using CallPlace = std::array<double, 4>;
CallPlace call_place(std::span<const WorkShape> tiles);

// Seconds of one direction. With a = launch + step + longest and b = the rest, time = (a^s + b^s)^(1/s):
// s = 1 adds them (the device does one after the other), a large s hides the smaller behind the larger.
struct DirectionModel {
  KernelTile tile;
  double sharpness = 1;
  FeatureVector seconds_per{};
  // Residuals kept from the fit, ln(measured / modelled), each at its place; a prediction is corrected by
  // their Gaussian-weighted mean (width in powers of two), which fades to none far from all of them.
  struct Residual {
    CallPlace place;
    double log_ratio;
  };
  std::vector<Residual> residuals;
  double residual_width = 0;  // 0: no correction
  CallPlace measured_low{}, measured_high{};

  double seconds(std::span<const WorkShape> tiles, int64_t steps) const;
};

// Seconds of sets of tiles on one device, forward and backward apart. Immutable, thread safe.
class CostModel {
 public:
  CostModel(DirectionModel forward, std::optional<DirectionModel> backward)
      : forward_(std::move(forward)), backward_(std::move(backward)) {}

  bool has_backward() const { return backward_.has_value(); }
  // Tiles computed in one kernel call; 0 for no tiles. `steps` counts the exchanges of a ring call.
  // Backward of a model without one is an error (kUsage).
  double call_seconds(std::span<const WorkShape> tiles, Direction direction = Direction::kForward,
                      int64_t steps = 1) const;
  // Share of a busy call: the tile's work without launch and without waiting for the longest work group.
  double tile_seconds(const WorkShape& tile, Direction direction = Direction::kForward) const;
  // The call lies outside the box of the measured ones (by more than a fifth of a power of two).
  bool extrapolated(std::span<const WorkShape> tiles, Direction direction = Direction::kForward) const;
  // The same of one tile among others: the number of tiles does not count.
  bool tile_extrapolated(const WorkShape& tile, Direction direction = Direction::kForward) const;

  const DirectionModel& model(Direction direction) const;

 private:
  DirectionModel forward_;
  std::optional<DirectionModel> backward_;
};

// One measured call.
struct Measurement {
  std::vector<WorkShape> tiles;
  int64_t steps = 1;
  Direction direction = Direction::kForward;
  double seconds = 0;
  std::string label;  // how the table names it, for lists of worst cases
};

struct FitOptions {
  std::vector<Feature> features;        // the others stay zero
  std::vector<KernelTile> tiles;        // candidates, the best is taken
  std::vector<double> sharpness = {1};  // candidates
  bool keep_residuals = false;          // correct by neighbours' residuals
  double residual_width = 0.35;
};

// Weighted non-negative least squares of relative errors with a Huber-like weight, so that a few anomalous
// rows do not bend the rest. Deterministic. Throws kBadInput with fewer measurements than features.
DirectionModel fit_direction(std::span<const Measurement> measurements, const FitOptions& options);

// |predicted / measured - 1| of some rows.
struct ErrorSummary {
  int64_t rows = 0;
  double median = 0, p90 = 0, worst = 0;
};
ErrorSummary summarise_errors(std::span<const double> predicted, std::span<const double> measured);
// Of errors that are taken already.
ErrorSummary summarise_errors(std::vector<double> errors);

// Errors of `measurements` each predicted by a fit to the other folds (row i is in fold i % folds).
ErrorSummary cross_validate(std::span<const Measurement> measurements, const FitOptions& options,
                            int folds = 5);
// Errors of a model on measurements.
ErrorSummary model_errors(const DirectionModel& model, std::span<const Measurement> measurements);

// How wrong the predictors in use elsewhere are on the same rows: each has its factors fitted, by the same
// robust rule, to the rows it is given. length is a document's, cp its split, heads the rank's.
struct NaiveInput {
  double documents_length = 0;          // heads x sum of lengths
  double documents_length_squared = 0;  // heads x sum of length^2
  double cp = 1;
  double seconds = 0;
};
struct NaiveError {
  std::string name;  // "constant", "sum L^2", "sum kL + L^2", "sum L^2 / cp"
  ErrorSummary error;
};
std::vector<NaiveError> naive_errors(std::span<const NaiveInput> fit, std::span<const NaiveInput> test);

}  // namespace counterpoise
