// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "assign/pack_policies.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

struct PolicyRow {
  PackPolicy policy;
  const char* name;
  std::unique_ptr<Packer> (*make)(const PackOptions&);
};

constexpr std::array kPolicies{
    PolicyRow{PackPolicy::kConcat, "concat", make_concat},
    PolicyRow{PackPolicy::kNextFit, "next_fit", make_next_fit},
    PolicyRow{PackPolicy::kBestFitDecreasing, "best_fit_decreasing", make_best_fit_decreasing},
    PolicyRow{PackPolicy::kOneDocument, "one_document", make_one_document},
};

struct LongRow {
  LongDocuments policy;
  const char* name;
};

constexpr std::array kLongDocuments{
    LongRow{LongDocuments::kSplit, "split"},
    LongRow{LongDocuments::kTruncate, "truncate"},
    LongRow{LongDocuments::kDrop, "drop"},
};

template <typename Table>
const auto& row_named(const Table& table, std::string_view name, const char* what) {
  std::string names;
  for (const auto& row : table) {
    if (row.name == name) return row;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw_error(ErrorKind::kUsage, "{}: unknown policy '{}'; one of {}", what, name, names);
}

template <typename Table, typename Policy>
const auto& row_of(const Table& table, Policy policy) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.policy == policy; });
  CP_CHECK(row != table.end());
  return *row;
}

}  // namespace

PackPolicy parse_pack_policy(std::string_view name) {
  return row_named(kPolicies, name, "--pack").policy;
}
LongDocuments parse_long_documents(std::string_view name) {
  return row_named(kLongDocuments, name, "--long").policy;
}
std::string name_of(PackPolicy policy) {
  return row_of(kPolicies, policy).name;
}
std::string name_of(LongDocuments policy) {
  return row_of(kLongDocuments, policy).name;
}

PackAccount& PackAccount::operator+=(const PackAccount& other) {
  documents += other.documents;
  empty_documents += other.empty_documents;
  tokens += other.tokens;
  placed += other.placed;
  truncated += other.truncated;
  dropped += other.dropped;
  padding += other.padding;
  windows += other.windows;
  split_documents += other.split_documents;
  truncated_documents += other.truncated_documents;
  dropped_documents += other.dropped_documents;
  return *this;
}

std::unique_ptr<Packer> Packer::make(const PackOptions& options) {
  if (options.window < 1)
    throw_error(ErrorKind::kUsage, "--window: {} tokens; at least 1 is needed", options.window);
  if (options.look_ahead < 1)
    throw_error(ErrorKind::kUsage, "--look-ahead: {} windows; at least 1 is needed", options.look_ahead);
  return row_of(kPolicies, options.policy).make(options);
}

void Packer::add(const Document& document, WindowSink& sink) {
  ++account_.documents;
  account_.tokens += document.length;
  if (document.length > options_.window) return add_long(document, sink);
  if (document.length > 0) return place({document.id, 0, document.length}, sink);
  ++account_.empty_documents;
  place_empty(document, sink);
}

void Packer::add_long(const Document& document, WindowSink& sink) {
  const int64_t window = options_.window;
  if (options_.long_documents == LongDocuments::kDrop) {
    account_.dropped += document.length;
    ++account_.dropped_documents;
  } else if (options_.long_documents == LongDocuments::kTruncate) {
    account_.truncated += document.length - window;
    ++account_.truncated_documents;
    place({document.id, 0, window}, sink);
  } else if (options_.policy == PackPolicy::kConcat) {
    place({document.id, 0, document.length}, sink);
  } else {
    ++account_.split_documents;
    for (int64_t begin = 0; begin < document.length; begin += window)
      place({document.id, begin, std::min(window, document.length - begin)}, sink);
  }
}

void Packer::finish(WindowSink& sink) {
  flush(sink);
  CP_CHECK(account_.pending() == 0);
}

void Packer::end_window(int64_t used, WindowSink& sink) {
  ++account_.windows;
  account_.padding += options_.window - used;
  sink.end_window(options_.window - used);
}

std::vector<Window> pack(const std::vector<Document>& documents, const PackOptions& options,
                         PackAccount* account) {
  const std::unique_ptr<Packer> packer = Packer::make(options);
  WindowCollector sink;
  for (const Document& document : documents) packer->add(document, sink);
  packer->finish(sink);
  if (account) *account = packer->account();
  return std::move(sink.windows);
}

}  // namespace counterpoise
