// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_options.h"

#include <deque>

#include "counterpoise/error.h"
#include "counterpoise/numbers.h"
#include "counterpoise/scheme.h"
#include "counterpoise/shard.h"

namespace counterpoise {
namespace {

int32_t element_bytes_of(const std::string& dtype) {
  if (dtype == "float32") return 4;
  if (dtype == "bfloat16" || dtype == "float16") return 2;
  throw_error(ErrorKind::kUsage, "--dtype {}: known: float32, bfloat16, float16", dtype);
}

template <typename T>
CLI::Option* add(CLI::App& verb, const char* name, T& value, const std::string& help, const char* type) {
  return verb.add_option(name, value, help)->capture_default_str()->type_name(type);
}

}  // namespace

Mask parse_mask(const std::string& text) {
  if (text == "causal") return Mask::causal();
  if (text == "full") return Mask::full();
  if (text.rfind("window:", 0) != 0) {
    throw_error(ErrorKind::kUsage, "--mask {}: known: causal, full, window:TOKENS", text);
  }
  const int64_t width = parse_size(text.substr(7), "--mask window");
  if (width < 1) throw_error(ErrorKind::kUsage, "--mask {}: a window has at least 1 token", text);
  return Mask::sliding_window(width);
}

void PlanOptions::add_to(CLI::App& verb) {
  lengths.add_to(verb, false, true);
  add(verb, "--window", window, "Tokens of one packed sequence", "SIZE");
  add(verb, "--pack", pack, "Packing: concat, next_fit, best_fit_decreasing, one_document", "POLICY");
  add(verb, "--long", long_documents, "Documents above the window: split, truncate, drop", "POLICY");
  add(verb, "--order", order, "Documents: sample, shuffle, corpus", "ORDER");
  add(verb, "--dp", dp, "Data-parallel groups", "N")->check(CLI::PositiveNumber);
  add(verb, "--cp", cp, "Context-parallel ranks of a group", "N")->check(CLI::PositiveNumber);
  add(verb, "--micro-batches", micro_batches, "Windows of a group per step", "N")->check(CLI::PositiveNumber);
  add(verb, "--shard", shard, "Who holds which tokens: " + names_of(sharders()), "POLICY");
  add(verb, "--scheme", scheme, "How keys and queries travel: " + names_of(schemes()), "SCHEME");
  add(verb, "--mask", mask, "causal, full, window:TOKENS", "MASK");
  add(verb, "--block", block, "striped: tokens per stripe (0: 128)", "SIZE");
  add(verb, "--token-cap", token_cap,
      "whole_document, adaptive: most tokens on a rank (0: twice an even share)", "SIZE");
  add(verb, "--inner", inner, "ring2d, double_ring: ranks of the inner level (0: chosen)", "N");
  add(verb, "--heads", heads, "Query heads", "N");
  add(verb, "--kv-heads", kv_heads, "Key/value heads (0: as many as query heads)", "N");
  add(verb, "--head-dim", head_dim, "Head dimension", "N");
  add(verb, "--v-head-dim", v_head_dim, "Head dimension of v (0: as --head-dim)", "N");
  add(verb, "--dtype", dtype, "Storage of q, k, v: float32, bfloat16, float16", "TYPE");
  verb.add_flag("--backward", backward, "Plan the backward pass too");
  add(verb, "--seed", seed, "Seed of the order of documents", "N");
}

PlanRequest PlanOptions::request() const {
  PlanRequest request;
  request.cp = cp;
  request.shape = {heads,
                   kv_heads == 0 ? heads : kv_heads,
                   head_dim,
                   v_head_dim == 0 ? head_dim : v_head_dim,
                   element_bytes_of(dtype),
                   parse_mask(mask)};
  request.sharder = shard;
  request.scheme = scheme;
  request.shard_options = {parse_size(block, "--block"), parse_size(token_cap, "--token-cap")};
  request.scheme_options = {inner};
  request.backward = backward;
  request.seed = seed;
  return request;
}

struct PlanSteps::State {
  PlanOptions options;
  Lengths lengths;
  LengthSampler sampler;
  DocumentStream stream;
  std::unique_ptr<Packer> packer;
  WindowCollector packed;
  size_t taken = 0;  // of packed.windows
  bool ended = false;

  explicit State(const PlanOptions& from)
      : options(from),
        lengths(from.lengths.load()),
        sampler(lengths),
        stream(lengths, sampler, parse_document_order(from.order), from.seed) {
    PackOptions pack;
    pack.policy = parse_pack_policy(from.pack);
    pack.long_documents = parse_long_documents(from.long_documents);
    pack.window = parse_size(from.window, "--window");
    packer = Packer::make(pack);
  }

  Window next_window() {
    while (taken == packed.windows.size() && !ended) {
      packed.windows.clear();
      taken = 0;
      if (const std::optional<Document> document = stream.next()) {
        packer->add(*document, packed);
      } else {
        packer->finish(packed);
        ended = true;
      }
    }
    if (taken == packed.windows.size()) {
      throw_error(ErrorKind::kInfeasible,
                  "--lengths {}: the corpus ends before the {} windows of a step are full; nearest legal: "
                  "fewer --dp or "
                  "--micro-batches, or --order shuffle",
                  options.lengths.source, options.dp * options.micro_batches);
    }
    return std::move(packed.windows[taken++]);
  }
};

PlanSteps::PlanSteps(const PlanOptions& options) : state_(new State(options)) {}
PlanSteps::~PlanSteps() = default;

PlanRequest PlanSteps::next() {
  PlanRequest request = state_->options.request();
  for (int32_t group = 0; group < state_->options.dp; ++group) {
    auto& windows = request.groups.emplace_back();
    for (int32_t micro_batch = 0; micro_batch < state_->options.micro_batches; ++micro_batch) {
      auto& documents = windows.emplace_back();
      for (const Piece& piece : state_->next_window().pieces)
        documents.push_back({piece.document, piece.length});
    }
  }
  return request;
}

}  // namespace counterpoise
