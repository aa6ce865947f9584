// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "counterpoise/numbers.h"
#include "report/simulation_report.h"

namespace counterpoise {

bool extrapolated(const Profile& profile, const SimulationConfig& config, int64_t cp) {
  return profile.extrapolated(config.pack.window * (config.regime == Regime::kGrow ? cp : 1), cp);
}

std::string estimate_cell(const std::optional<Estimate>& estimate) {
  if (!estimate) return "-";
  if (estimate->half_width() == 0) return fmt::format("{:.3f}", estimate->value);
  return fmt::format("{:.3f} ± {:.3f}", estimate->value, estimate->half_width());
}

std::string number_cell(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

std::string law_slowdown_cell(const CpResult& result, Sync sync) {
  return law_slowdown_cell(result.law ? &result.law->all : nullptr, sync);
}

std::string law_variance_cell(const CpResult& result) {
  return result.law ? number_cell(result.law->variance_ratio, 3) : "-";
}

std::string law_slowdown_cell(const Law* law, Sync sync) {
  return law ? fmt::format("{:.3f}", sync == Sync::kStep ? law->slowdown : law->slowdown_micro_batch) : "-";
}

std::string percent_cell(const std::optional<double>& share) {
  if (!share) return "-";
  const double percent = *share * 100;
  return fmt::format("{:.{}f} %", percent, percent > 0 && percent < 10 ? 1 : 0);
}

std::string account_sentence(const PackAccount& account) {
  auto share = [&](int64_t tokens) {
    const double total = static_cast<double>(account.tokens);
    return total > 0 ? static_cast<double>(tokens) / total * 100 : 0;
  };
  std::string text;
  auto add = [&](const std::string& clause) { text += (text.empty() ? "" : "; ") + clause; };
  if (account.dropped_documents > 0)
    add(fmt::format("{} documents dropped for length ({:.2g} % of tokens)",
                    format_count(account.dropped_documents), share(account.dropped)));
  if (account.truncated_documents > 0)
    add(fmt::format("{} documents truncated ({:.2g} % of tokens cut)",
                    format_count(account.truncated_documents), share(account.truncated)));
  if (account.split_documents > 0)
    add(fmt::format("{} of {} documents lie in more than one window", format_count(account.split_documents),
                    format_count(account.documents)));
  if (account.padding > 0)
    add(fmt::format("{:.2g} % of the windows is padding",
                    100.0 * static_cast<double>(account.padding) /
                        static_cast<double>(account.padding + account.placed)));
  return text;
}

const CpResult* largest_judged(const std::vector<CpResult>& results) {
  const CpResult* largest = nullptr;
  for (const CpResult& r : results)
    if (r.all.judged()) largest = &r;
  return largest;
}

}  // namespace counterpoise
