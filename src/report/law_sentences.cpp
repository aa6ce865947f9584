// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "counterpoise/numbers.h"
#include "report/law_report.h"

namespace counterpoise {
namespace {

// Rows whose max/min says something: `simulate` judges four groups or more.
bool judged(const LawRow& row) {
  return row.all.groups >= 4;
}

template <typename Passes>
const LawRow* first_of_passing_end(const LawSweep& sweep, const Passes& passes) {
  const LawRow* first = nullptr;
  for (auto row = sweep.rows.rbegin(); row != sweep.rows.rend() && passes(*row); ++row) first = &*row;
  return first;
}

const LawRow* last_judged(const LawSweep& sweep) {
  const auto last = std::find_if(sweep.rows.rbegin(), sweep.rows.rend(), judged);
  return last == sweep.rows.rend() ? nullptr : &*last;
}

std::string groups_of(const Law& law) {
  return law.groups == 1 ? "a single group, which has nobody to wait for"
                         : fmt::format("{} groups", law.groups);
}

// What a few groups owe to being few.
std::string beside_eight(const LawRow& row) {
  return row.all.groups < 8 && row.fixed ? fmt::format(" (8 such groups: {:.3f})", row.fixed->slowdown) : "";
}

std::string target_sentence(const LawRecord& record) {
  if (const LawRow* row = first_within_target(record.sweep, record.target)) {
    return fmt::format("Slowdown is {} or less from CP = {} on: {:.3f} with {}{}.", record.target, row->cp,
                       row->all.slowdown, groups_of(row->all), beside_eight(*row));
  }
  const auto best =
      std::min_element(record.sweep.rows.begin(), record.sweep.rows.end(),
                       [](const LawRow& a, const LawRow& b) { return a.all.slowdown < b.all.slowdown; });
  return fmt::format(
      "No CP of the list keeps slowdown at {} or less; the least is {:.3f} at CP = {} with {}.",
      record.target, best->all.slowdown, best->cp, groups_of(best->all));
}

std::string needs_sentence(const LawRecord& record) {
  std::string text;
  for (const LawSweep::Need& need : record.sweep.needs) {
    text += fmt::format("{}{} at {} groups", text.empty() ? "" : ", ",
                        need.windows ? fmt::format("{}", *need.windows) : "more than 4096", need.groups);
  }
  return text.empty()
             ? ""
             : fmt::format("Windows per group (CP x micro-batches per step) that slowdown {} takes: {}.",
                           record.target, text);
}

std::string balance_sentence(const LawRecord& record) {
  if (const LawRow* row = first_balanced(record.sweep)) {
    return fmt::format(
        "From CP = {} on the slowest group takes less than twice the time of the fastest in at least {:.0f} "
        "% "
        "of steps: {:.1f} % with {}.",
        row->cp, 100 * kBalancedShare, 100 * row->all.share_below_2, groups_of(row->all));
  }
  const LawRow* last = last_judged(record.sweep);
  if (!last) return "No CP of the list leaves four groups or more, so max/min is not judged.";
  return fmt::format(
      "No CP of the list keeps max/min below two in {:.0f} % of steps: at CP = {} it is {:.1f} % with {}.",
      100 * kBalancedShare, last->cp, 100 * last->all.share_below_2, groups_of(last->all));
}

std::string barrier_sentence(const LawRecord& record) {
  const LawRow& last = record.sweep.rows.back();
  if (last.all.windows == 1 || last.all.groups == 1) return "";
  return fmt::format(
      "If groups meet after every window (FSDP, ZeRO-3), nothing is averaged: slowdown {:.3f} "
      "instead of {:.3f} at CP = {}.",
      last.all.slowdown_micro_batch, last.all.slowdown, last.cp);
}

std::string neighbours_sentence(const LawRecord& record) {
  const LawRow& last = record.sweep.rows.back();
  if (record.config.window_order != WindowOrder::kStream || last.all.windows == 1) return "";
  return fmt::format(
      "Windows stay in stream order and neighbours share documents: {} of them average like {:.1f} "
      "independent ones.",
      last.all.windows, last.all.effective_windows);
}

}  // namespace

const LawRow* first_within_target(const LawSweep& sweep, double target) {
  return first_of_passing_end(sweep, [&](const LawRow& row) { return row.all.slowdown <= target; });
}

const LawRow* first_balanced(const LawSweep& sweep) {
  const LawRow* first = first_of_passing_end(
      sweep, [](const LawRow& row) { return !judged(row) || row.all.share_below_2 >= kBalancedShare; });
  return first && judged(*first) ? first : nullptr;
}

std::string tail_sentence(const LengthSummary& summary) {
  if (!summary.tail || summary.tail->squared_index >= 2) return "";
  return fmt::format(
      "The tail index of length^2 is about {:.2f}, below 2: its variance is set by the longest documents "
      "({} tokens) and by the window's cut, not by typical documents. Variance and the Gaussian form "
      "describe this "
      "sample only; slowdown, max/mean and max/min are taken from the whole distribution.",
      summary.tail->squared_index, format_count(summary.max));
}

std::vector<std::string> law_sentences(const LawRecord& record) {
  std::vector<std::string> all{target_sentence(record),     needs_sentence(record),
                               balance_sentence(record),    barrier_sentence(record),
                               neighbours_sentence(record), tail_sentence(record.summary)};
  std::erase(all, "");
  return all;
}

}  // namespace counterpoise
