// SPDX-License-Identifier: Apache-2.0
// Delimited text in three kinds: a column of lengths; lengths with counts; ranges of lengths with counts.
#include <algorithm>
#include <charconv>
#include <optional>

#include "lengths/bins.h"
#include "lengths/csv_scanner.h"
#include "lengths/place.h"
#include "lengths/readers.h"

namespace counterpoise {
namespace {

constexpr std::array<std::string_view, 3> kRangeNames = {"range", "bin", "interval"};
constexpr std::array<std::string_view, 3> kLoNames = {"lo", "low", "min"};
constexpr std::array<std::string_view, 3> kHiNames = {"hi", "high", "max"};
constexpr std::array<std::string_view, 10> kWeightNames = {
    "count", "weight", "number", "num", "n", "frequency", "freq", "documents", "numdocuments", "probability"};

using Cells = std::vector<std::string_view>;

class CsvLengths {
 public:
  explicit CsvLengths(const Input& input) : input_(input), scanner_(input.name, input.bytes) {
    Cells cells;
    if (!scanner_.next(cells)) throw_error(ErrorKind::kBadInput, "{}: holds no lengths", input.name);
    columns_ = cells.size();
    if (is_header(cells))
      names_.assign(cells.begin(), cells.end());
    else
      first_.emplace(cells.begin(), cells.end());
    first_place_ = scanner_.place();
  }

  // By the header. A field that was asked for is a column of lengths, unless it is the one a weighted file
  // would use anyway.
  std::string kind() const {
    const bool ranges = find(kRangeNames) || (find(kLoNames) && find(kHiNames));
    const bool lengths = find(length_field_names()).has_value();
    const bool asked = !input_.field.empty();
    if (names_.empty() || !find(kWeightNames)) return "csv";
    if (ranges && !lengths && !asked) return "binned_csv";
    const bool same = !asked || (lengths && input_.field == names_[*find(length_field_names())]);
    return columns_ == 2 && lengths && same ? "weighted_csv" : "csv";
  }

  void read_plain(Lengths& lengths) {
    const size_t column = length_column();
    for_each([&](const Cells& cells, const Place& place) {
      lengths.corpus.push_back(parse_length(cells[column], place));
    });
  }

  void read_weighted(Lengths& lengths) {
    const bool bare = names_.empty();
    if (bare && (columns_ != 2 || !input_.field.empty()))
      bad_input(first_place_,
                "weighted_csv without a header line needs exactly two columns, length and count");
    const size_t column = bare ? 0 : length_column();
    const size_t weight = bare ? 1 : needed(kWeightNames, "count");
    for_each([&](const Cells& cells, const Place& place) {
      const int64_t length = parse_length(cells[column], place);
      lengths.bins.push_back({length, length, parse_weight(cells[weight], place)});
    });
    settle_bins(lengths, input_.name);
  }

  void read_binned(Lengths& lengths) {
    const std::optional<size_t> range = find(kRangeNames);
    const size_t lo = range ? *range : needed(kLoNames, "range (or lo and hi)");
    const size_t hi = range ? *range : needed(kHiNames, "hi");
    const size_t weight = needed(kWeightNames, "count");
    for_each([&](const Cells& cells, const Place& place) {
      LengthBin bin = range ? parse_range(cells[*range], place)
                            : LengthBin{parse_length(cells[lo], place), parse_length(cells[hi], place), 0};
      if (bin.lo > bin.hi) bad_input(place, "the range {}..{} is empty", bin.lo, bin.hi);
      bin.weight = parse_weight(cells[weight], place);
      lengths.bins.push_back(bin);
    });
    settle_bins(lengths, input_.name);
  }

 private:
  // A header has a cell that is not a number.
  static bool is_header(const Cells& cells) {
    return std::ranges::any_of(cells, [](std::string_view cell) {
      double value = 0;
      const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      return !cell.empty() && (status == std::errc::invalid_argument || end != cell.data() + cell.size());
    });
  }

  template <typename Body>
  void for_each(Body body) {
    Cells cells;
    if (first_) body(Cells(first_->begin(), first_->end()), first_place_);
    while (scanner_.next(cells)) {
      if (cells.size() != columns_)
        bad_input(scanner_.place(), "{} cells where the first line has {}", cells.size(), columns_);
      body(cells, scanner_.place());
    }
  }

  std::optional<size_t> find(std::span<const std::string_view> wanted) const {
    for (const std::string_view name : wanted)
      for (size_t i = 0; i < names_.size(); ++i)
        if (normalized_name(names_[i]) == name) return i;
    return std::nullopt;
  }

  size_t needed(std::span<const std::string_view> wanted, std::string_view what) const {
    if (const auto column = find(wanted)) return *column;
    bad_input(first_place_, "no column {}; the columns are {}", what, fmt::join(names_, ", "));
  }

  size_t length_column() const {
    if (!input_.field.empty()) return named_column();
    if (columns_ == 1) return 0;
    if (names_.empty())
      bad_input(first_place_, "{} columns and no header line; pick one with --field 1..{}", columns_,
                columns_);
    if (const auto column = find(length_field_names())) return *column;
    bad_input(first_place_, "no column of lengths among {}; name one with --field", fmt::join(names_, ", "));
  }

  // --field: a name of the header, or, without a header, the number of the column.
  size_t named_column() const {
    const auto at = std::ranges::find(names_, input_.field);
    if (at != names_.end()) return static_cast<size_t>(at - names_.begin());
    if (!names_.empty())
      bad_input(first_place_, "no column {}; the columns are {}", shown(input_.field),
                fmt::join(names_, ", "));
    size_t number = 0;
    const std::string& text = input_.field;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end != text.data() + text.size() || number < 1 || number > columns_)
      bad_input(first_place_, "no header line, so --field must be a column number 1..{}, not {}", columns_,
                shown(text));
    return number - 1;
  }

  // "[11, 50]" with both ends included; "(" and ")" exclude theirs.
  LengthBin parse_range(std::string_view cell, const Place& place) const {
    const size_t comma = cell.find(',');
    const bool brackets = cell.size() >= 5 && (cell.front() == '[' || cell.front() == '(') &&
                          (cell.back() == ']' || cell.back() == ')');
    if (!brackets || comma == std::string_view::npos)
      bad_input(place, "{} is not a range such as [11, 50]", shown(cell));
    LengthBin bin;
    bin.lo = parse_length(cell.substr(1, comma - 1), place) + (cell.front() == '(');
    bin.hi = parse_length(cell.substr(comma + 1, cell.size() - comma - 2), place) - (cell.back() == ')');
    return bin;
  }

  const Input& input_;
  CsvScanner scanner_;
  size_t columns_ = 0;
  std::vector<std::string> names_;                 // empty: no header line
  std::optional<std::vector<std::string>> first_;  // the first record, where that is data
  Place first_place_;
};

}  // namespace

void read_csv(const Input& input, Lengths& lengths) {
  CsvLengths reader(input);
  if (lengths.format.empty()) lengths.format = reader.kind();
  if (lengths.format == "weighted_csv") return reader.read_weighted(lengths);
  if (lengths.format == "binned_csv") return reader.read_binned(lengths);
  reader.read_plain(lengths);
}

}  // namespace counterpoise
