// SPDX-License-Identifier: Apache-2.0
#include "report/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "counterpoise/numbers.h"
#include "report/calibration_report.h"
#include "report/simulation_report.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kAnomaliesShown = 10;

std::string quantity(const ValidationPart& part, double value) {
  if (part.unit == "s") return format_seconds(value);
  return fmt::format("{:.4g}{}{}", value, part.unit.empty() ? "" : " ", part.unit);
}

std::string threshold_cell(const ValidationPart& part) {
  std::vector<std::string> limits;
  if (part.most_median) limits.push_back("median " + error_cell(*part.most_median));
  if (part.most_p90) limits.push_back("p90 " + error_cell(*part.most_p90));
  if (part.most_worst) limits.push_back("worst " + error_cell(*part.most_worst));
  if (part.most_deviation) limits.push_back(fmt::format("{} standard errors", *part.most_deviation));
  return limits.empty() ? "none" : fmt::format("{}", fmt::join(limits, ", "));
}

std::string best_naive_cell(const ValidationPart& part) {
  const auto best = std::min_element(part.naive.begin(), part.naive.end(), [](const auto& a, const auto& b) {
    return a.error.median < b.error.median;
  });
  return best == part.naive.end() ? "-" : fmt::format("{} ({})", error_cell(best->error.median), best->name);
}

std::string verdict_cell(const ValidationPart& part) {
  if (!part.unavailable.empty()) return "not available";
  if (!part.judged()) return "reported";
  if (part.inconclusive()) return "inconclusive: noise " + error_cell(*part.noise);
  return part.passed() ? "pass" : "FAIL";
}

std::string case_numbers(const ValidationPart& part, const ValidationCase& one) {
  if (!one.standard_error)
    return fmt::format("measured {}, predicted {} ({:+.0f} %)", quantity(part, one.measured),
                       quantity(part, one.predicted), 100 * (one.predicted / one.measured - 1));
  return fmt::format("drawn {:.5g} ± {:.2g}, predicted {:.5g}{}{} (off by {:.2f} %)", one.measured,
                     *one.standard_error, one.predicted, part.unit.empty() ? "" : " ", part.unit,
                     100 * part.error_of(one));
}

std::string case_lines(const ValidationPart& part, const std::vector<ValidationCase>& cases, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(cases.size(), most); ++i)
    text += fmt::format("    {}: {}\n", cases[i].label, case_numbers(part, cases[i]));
  return text;
}

std::string details(const ValidationPart& part) {
  std::string text = fmt::format("\n{}\n", part.name);
  if (!part.unavailable.empty()) return text + fmt::format("  not available: {}\n", part.unavailable);
  text += fmt::format("  {}\n", part.split);
  if (!part.note.empty()) text += fmt::format("  {}\n", part.note);
  if (part.extrapolated > 0)
    text += fmt::format("  extrapolated: {} of {} rows lie outside what it was measured on\n",
                        part.extrapolated, part.test.rows);
  if (part.worst_deviation)
    text += fmt::format(
        "  worst error {:.2f} %; beyond what the law's grid may be off, the row furthest from the draw is "
        "{:.1f} standard errors off\n",
        100 * part.test.worst, *part.worst_deviation);
  if (!part.worst.empty())
    text += "  worst of the tested rows:\n" + case_lines(part, part.worst, part.worst.size());
  if (!part.anomalies.empty())
    text +=
        fmt::format("  {} rows that no smooth model fits (all kept; --json lists every one), worst first:\n",
                    part.anomalies.size()) +
        case_lines(part, part.anomalies, kAnomaliesShown);
  return text;
}

// What others predict the same rows with: one table for each family of such predictors.
class NaiveTables {
 public:
  explicit NaiveTables(const std::vector<ValidationPart>& parts) {
    for (const ValidationPart& part : parts)
      if (!part.naive.empty() && !part.summarised) family_of(part).add(part);
  }

  std::string str() const {
    std::string text;
    for (const Family& family : families_) text += "\n" + family.str();
    return text;
  }

 private:
  struct Family {
    std::vector<std::string> names;  // of the predictors, the columns
    std::vector<const ValidationPart*> parts;

    void add(const ValidationPart& part) {
      parts.push_back(&part);
      for (const NaiveError& naive : part.naive)
        if (std::ranges::find(names, naive.name) == names.end()) names.push_back(naive.name);
    }

    std::string str() const {
      std::vector<TextTable::Column> columns = {{"median / p90 error beside others'", Align::kLeft},
                                                {"ours"}};
      for (const std::string& name : names) columns.push_back({name});
      TextTable table(columns);
      for (const ValidationPart* part : parts) {
        std::vector<std::string> cells = {part->name, cell(part->test)};
        for (const std::string& name : names) cells.push_back(cell_of(*part, name));
        table.add_row(cells);
      }
      return table.str();
    }

    static std::string cell(const ErrorSummary& error) {
      return fmt::format("{} / {}", error_cell(error.median), error_cell(error.p90));
    }
    static std::string cell_of(const ValidationPart& part, const std::string& name) {
      const auto naive = std::ranges::find(part.naive, name, &NaiveError::name);
      return naive == part.naive.end() ? "-" : cell(naive->error);
    }
  };

  Family& family_of(const ValidationPart& part) {
    for (Family& family : families_)
      if (family.names.front() == part.naive.front().name) return family;
    return families_.emplace_back();
  }

  std::vector<Family> families_;
};

std::string found(const std::vector<ValidationPart>& parts) {
  const auto judged = std::ranges::count_if(parts, &ValidationPart::judged);
  std::string text =
      judged == 0 ? "Found  no part has a threshold here: errors are reported, not judged"
                  : fmt::format("Found  {} of {} parts hold their thresholds",
                                std::ranges::count_if(
                                    parts, [](const auto& part) { return part.judged() && part.passed(); }),
                                judged);
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) text += fmt::format("; {}: {}", what, fmt::join(names, ", "));
  };
  add("above them", failed_parts(parts));
  add("above them on a machine too noisy to judge", inconclusive_parts(parts));
  std::vector<std::string> absent;
  for (const ValidationPart& part : parts)
    if (!part.unavailable.empty()) absent.push_back(part.name);
  add("not available", absent);
  return text + "\n\n";
}

Json error_object(const ErrorSummary& error) {
  return {{"rows", error.rows}, {"median", error.median}, {"p90", error.p90}, {"worst", error.worst}};
}

Json cases_json(const std::vector<ValidationCase>& cases) {
  Json list = Json::array();
  for (const ValidationCase& one : cases)
    list.push_back({{"label", one.label},
                    {"measured", one.measured},
                    {"predicted", one.predicted},
                    {"standard_error", number_json(one.standard_error)}});
  return list;
}

Json part_json(const ValidationPart& part) {
  Json json = {{"name", part.name}, {"available", part.unavailable.empty()}};
  if (!part.unavailable.empty()) {
    json["reason"] = part.unavailable;
    return json;
  }
  json["split"] = part.split;
  json["unit"] = part.unit;
  json["fit"] = part.fit.rows > 0 ? error_object(part.fit) : Json(nullptr);
  json["test"] = error_object(part.test);
  json["extrapolated"] = part.extrapolated;
  for (const NaiveError& naive : part.naive) json["naive"][naive.name] = error_object(naive.error);
  json["worst_deviation"] = number_json(part.worst_deviation);
  json["threshold"] = {{"median", number_json(part.most_median)},
                       {"p90", number_json(part.most_p90)},
                       {"worst", number_json(part.most_worst)},
                       {"deviation", number_json(part.most_deviation)}};
  json["passed"] = part.passed();
  json["inconclusive"] = part.inconclusive();
  json["noise"] = number_json(part.noise);
  json["note"] = part.note;
  json["worst"] = cases_json(part.worst);
  json["anomalies"] = cases_json(part.anomalies);
  return json;
}

}  // namespace

std::string validation_text(const std::vector<ValidationPart>& parts) {
  TextTable table({{"predicted against measured", Align::kLeft},
                   {"rows"},
                   {"median"},
                   {"p90"},
                   {"best naive median", Align::kLeft},
                   {"threshold", Align::kLeft},
                   {"", Align::kLeft}});
  std::string text;
  for (const ValidationPart& part : parts) {
    const bool there = part.unavailable.empty();
    table.add_row({part.name, there ? fmt::format("{}", part.test.rows) : "-",
                   there ? error_cell(part.test.median) : "-", there ? error_cell(part.test.p90) : "-",
                   there ? best_naive_cell(part) : "-", there ? threshold_cell(part) : "-",
                   verdict_cell(part)});
    if (!part.summarised || (part.judged() && !part.passed())) text += details(part);
  }
  return found(parts) + table.str() + NaiveTables(parts).str() + text;
}

nlohmann::ordered_json validation_json(const std::vector<ValidationPart>& parts) {
  Json json = {{"passed", failed_parts(parts).empty()},
               {"inconclusive", inconclusive_parts(parts)},
               {"parts", Json::array()}};
  for (const ValidationPart& part : parts) json["parts"].push_back(part_json(part));
  return json;
}

std::vector<std::string> failed_parts(const std::vector<ValidationPart>& parts) {
  std::vector<std::string> names;
  for (const ValidationPart& part : parts)
    if (part.unavailable.empty() && !part.passed() && !part.inconclusive()) names.push_back(part.name);
  return names;
}

std::vector<std::string> inconclusive_parts(const std::vector<ValidationPart>& parts) {
  std::vector<std::string> names;
  for (const ValidationPart& part : parts)
    if (part.unavailable.empty() && part.inconclusive()) names.push_back(part.name);
  return names;
}

}  // namespace counterpoise
