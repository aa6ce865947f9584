// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "counterpoise/numbers.h"
#include "report/lengths_report.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

constexpr double kMinorShare = 0.01;  // short lengths below this, together, share one row of the picture
constexpr size_t kBarWidth = 24;

std::string percent(double share) {
  const double value = 100 * share;
  if (value == 0 || value >= 99.95) return fmt::format("{:.0f} %", value);
  if (value < 0.05) return "< 0.1 %";
  return fmt::format("{:.{}f} %", value, value < 10 ? 1 : 0);
}

std::string what_there_is(const LengthSummary& summary) {
  if (!summary.documents)
    return fmt::format("a distribution with a mean of {} tokens", format_count(std::llround(summary.mean)));
  return fmt::format("{} document{}, {} tokens", format_count(*summary.documents),
                     *summary.documents == 1 ? "" : "s", format_si(static_cast<double>(*summary.tokens)));
}

std::string who_has_the_work(const LengthSummary& summary) {
  if (!summary.longest) return "all are of zero length, so there is nothing to attend to";
  const std::string who =
      summary.documents && *summary.documents < 100 ? "the longest holds" : "the longest 1 % hold";
  return fmt::format("{} {} of attention work (Σ length²)", who, percent(summary.longest->squares));
}

std::string quantile_table(const LengthSummary& summary) {
  std::vector<TextTable::Column> columns = {{"min"}};
  std::vector<std::string> row = {format_count(summary.min)};
  for (const auto& [p, length] : summary.quantiles) {
    columns.push_back({p == 1 ? "max" : fmt::format("p{:g}", 100 * p)});
    row.push_back(format_count(length));
  }
  TextTable table(columns);
  table.add_row(row);
  return table.str(2);
}

// Rows of the histogram; the many nearly empty ones of short lengths (but not of zero) are put together.
std::vector<LengthSummary::Bin> visible_bins(const LengthSummary& summary) {
  std::vector<LengthSummary::Bin> bins;
  const size_t first = summary.histogram.front().hi == 0 ? 1 : 0;
  for (const LengthSummary::Bin& bin : summary.histogram) {
    const bool merge = bins.size() == first + 1 && bins[first].documents + bin.documents < kMinorShare &&
                       bins[first].tokens + bin.tokens < kMinorShare;
    if (!merge) {
      bins.push_back(bin);
      continue;
    }
    bins[first].hi = bin.hi;
    bins[first].documents += bin.documents;
    bins[first].tokens += bin.tokens;
    bins[first].squares += bin.squares;
  }
  return bins;
}

std::string histogram_table(const LengthSummary& summary) {
  double most = 0;
  const std::vector<LengthSummary::Bin> bins = visible_bins(summary);
  for (const LengthSummary::Bin& bin : bins) most = std::max({most, bin.tokens, bin.squares});
  TextTable table({{"up to"},
                   {"documents"},
                   {"tokens"},
                   {"Σ length²"},
                   {"tokens", Align::kLeft},
                   {"Σ length²", Align::kLeft}});
  const auto bar_of = [most](double share) { return most > 0 ? bar(share / most, kBarWidth) : ""; };
  for (const LengthSummary::Bin& bin : bins)
    table.add_row({format_size(bin.hi), percent(bin.documents), percent(bin.tokens), percent(bin.squares),
                   bar_of(bin.tokens), bar_of(bin.squares)});
  return table.str(2);
}

std::string tail_line(const LengthSummary& summary) {
  if (!summary.tail) return fmt::format("  no tail index: {}\n", summary.no_tail);
  const LengthSummary::Tail& tail = *summary.tail;
  const std::string used =
      tail.k ? fmt::format("{} longest documents", format_count(*tail.k)) : "longest 1 %";
  const char* meaning = tail.squared_index < 1   ? "very heavy: a few documents decide each sum of work"
                        : tail.squared_index < 2 ? "heavy: averages of work settle slowly"
                                                 : "moderate: averages of work settle as usual";
  return fmt::format("  tail index {:.2f} of length, {:.2f} of length² (Hill, {} above {} tokens)\n    {}\n",
                     tail.index, tail.squared_index, used, format_count(tail.threshold), meaning);
}

}  // namespace

std::string lengths_sentence(const LengthSummary& summary) {
  std::string text = what_there_is(summary) + "; " + who_has_the_work(summary);
  if (summary.longest && summary.zero_length_share > 0)
    text += summary.zero_length ? fmt::format("; {} of zero length", format_count(*summary.zero_length))
                                : fmt::format("; {} of zero length", percent(summary.zero_length_share));
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

std::string lengths_text(const Lengths& lengths, const LengthSummary& summary) {
  std::string text = lengths_sentence(summary) + "\n";
  text += fmt::format("  {} ({}{}{})\n\n", lengths.source, lengths.format,
                      lengths.provenance.empty() ? "" : ": ", lengths.provenance);
  text += quantile_table(summary) + "\n";
  if (summary.cv) {
    text += fmt::format("  mean {:.1f} tokens; CV {:.2f} of length, {:.2f} of length²\n", summary.mean,
                        *summary.cv, *summary.squared_cv);
    text += tail_line(summary);
  }
  return text + (summary.cv ? "\n" : "") + histogram_table(summary);
}

}  // namespace counterpoise
