// SPDX-License-Identifier: Apache-2.0
#include "lengths/distribution_syntax.h"

#include <charconv>
#include <cmath>

#include "counterpoise/error.h"
#include "lengths/place.h"

namespace counterpoise {
namespace {

// Pieces between separators that stand outside of all parentheses.
std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  int64_t depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth != 0 || text[i] != separator) continue;
    // The sign of an exponent is no separator: 1e+3.
    if (separator == '+' && i > 0 && (text[i - 1] == 'e' || text[i - 1] == 'E')) continue;
    pieces.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  pieces.push_back(trimmed(text.substr(begin)));
  return pieces;
}

void check_parentheses(std::string_view text) {
  int64_t depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (depth < 0) break;
  }
  if (depth != 0) throw_error(ErrorKind::kUsage, "dist:{}: the parentheses do not match", text);
}

}  // namespace

DistributionCall parse_call(std::string_view text) {
  text = trimmed(text);
  check_parentheses(text);
  const size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')')
    throw_error(ErrorKind::kUsage,
                "dist:{}: write NAME(KEY=VALUE,...), for example lognormal(median=3k,sigma=1.2,max=128k)",
                text);
  DistributionCall call;
  call.name = trimmed(text.substr(0, open));
  call.inside = trimmed(text.substr(open + 1, text.size() - open - 2));
  if (call.inside.empty()) return call;
  for (const std::string_view argument : split_outside(call.inside, ',')) {
    const size_t equals = argument.find('=');
    if (equals == std::string_view::npos)
      call.arguments.emplace_back("", argument);
    else
      call.arguments.emplace_back(trimmed(argument.substr(0, equals)), trimmed(argument.substr(equals + 1)));
  }
  return call;
}

std::vector<std::pair<double, std::string_view>> parse_terms(std::string_view text) {
  std::vector<std::pair<double, std::string_view>> terms;
  for (const std::string_view term : split_outside(text, '+')) {
    const size_t star = term.find('*');
    const std::string_view factor = trimmed(term.substr(0, star == std::string_view::npos ? 0 : star));
    double weight = 0;
    const auto [end, status] = std::from_chars(factor.data(), factor.data() + factor.size(), weight);
    const bool good = status == std::errc() && end == factor.data() + factor.size() && std::isfinite(weight);
    if (!good || weight <= 0)
      throw_error(ErrorKind::kUsage,
                  "dist:mixture: {} is no term; write WEIGHT*DISTRIBUTION with a weight above 0",
                  shown(term));
    terms.emplace_back(weight, term.substr(star + 1));
  }
  return terms;
}

}  // namespace counterpoise
