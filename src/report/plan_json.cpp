// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "counterpoise/plan_file.h"
#include "counterpoise/plan_loads.h"
#include "report/plan_report.h"

namespace counterpoise {
namespace {

using Json = nlohmann::ordered_json;

Json range_json(Range range) {
  return Json::array({range.begin, range.end});
}
Json heads_json(HeadRange heads) {
  return Json::array({heads.begin, heads.end});
}

Json pieces_json(const WindowPlan& window, Pieces list) {
  Json all = Json::array();
  for (const PlanPiece& piece : window.list(list)) {
    all.push_back({{"document", piece.document}, {"range", range_json(piece.range)}});
  }
  return all;
}

Json ops_json(std::span<const Op> program) {
  Json all = Json::array();
  for (const Op& op : program) {
    Json one{{"op", op_name(op.kind)}};
    if (op.kind == OpKind::kAttend) {
      one["tiles"] = Json::array({op.index, op.index + op.count});
    } else {
      one[op.kind == OpKind::kMerge ? "merge" : "transfer"] = op.index;
    }
    all.push_back(one);
  }
  return all;
}

Json pass_json(const StepPlan& plan, const WindowPlan& window, const Pass& pass) {
  Json buffers = Json::array(), transfers = Json::array(), tiles = Json::array(), merges = Json::array();
  Json programs = Json::array(), peaks = Json::array();
  for (const Buffer& b : pass.buffers) {
    buffers.push_back({{"rank", b.rank},
                       {"payload", payload_name(b.payload)},
                       {"home", b.home},
                       {"heads", heads_json(b.heads)},
                       {"rows", b.rows},
                       {"bytes", b.bytes},
                       {"first_op", b.first_op},
                       {"last_op", b.last_op}});
  }
  for (const Transfer& t : pass.transfers) {
    transfers.push_back({{"src", t.src},
                         {"dst", t.dst},
                         {"what", payload_name(t.payload)},
                         {"heads", heads_json(t.heads)},
                         {"pieces", pieces_json(window, t.pieces)},
                         {"from", t.from},
                         {"into", t.into},
                         {"tag", t.tag},
                         {"bytes", t.bytes}});
  }
  for (const Tile& t : pass.tiles) {
    tiles.push_back({{"document", t.document},
                     {"rank", t.rank},
                     {"q", range_json(t.q)},
                     {"kv", range_json(t.kv)},
                     {"heads", heads_json(t.heads)},
                     {"area", area(t.q, t.kv, plan.shape.mask)}});
  }
  for (const Merge& m : pass.merges) merges.push_back({{"from", m.from}, {"into", m.into}});
  for (int32_t rank = 0; rank < plan.cp; ++rank) {
    programs.push_back(ops_json(pass.program(rank)));
    peaks.push_back(peak_bytes(pass, rank));
  }
  return {{"peak_bytes", peaks}, {"buffers", buffers}, {"transfers", transfers},
          {"tiles", tiles},      {"merges", merges},   {"programs", programs}};
}

Json window_json(const StepPlan& plan, const WindowPlan& window) {
  Json documents = Json::array(), placement = Json::array();
  for (const PlanDocument& d : window.documents) documents.push_back({{"id", d.id}, {"length", d.length}});
  for (const Pieces& list : window.placement) placement.push_back(pieces_json(window, list));
  Json one{{"documents", documents},
           {"placement", placement},
           {"forward", pass_json(plan, window, window.forward)}};
  if (!window.backward.programs.empty()) one["backward"] = pass_json(plan, window, window.backward);
  return one;
}

Json loads_json(const std::vector<RankLoad>& loads) {
  Json all = Json::array();
  for (const RankLoad& load : loads) {
    all.push_back(
        {{"tokens", load.tokens}, {"area", load.area}, {"sent", load.sent}, {"received", load.received}});
  }
  return all;
}

Json traffic_json(const Traffic& traffic) {
  return {{"sent", traffic.sent}, {"most_sent", traffic.most_sent}, {"lower_bound", traffic.least}};
}

Json window_loads_json(const StepPlan& plan, const WindowPlan& window) {
  const WindowLoads loads = loads_of(plan, window);
  Json one{
      {"forward",
       {{"ranks", loads_json(loads.forward)}, {"traffic", traffic_json(traffic_of(plan, window, false))}}}};
  if (!loads.backward.empty()) {
    one["backward"] = {{"ranks", loads_json(loads.backward)},
                       {"traffic", traffic_json(traffic_of(plan, window, true))}};
  }
  return one;
}

template <typename Each>
Json each_window(const StepPlan& plan, Each each) {
  Json groups = Json::array();
  for (const GroupPlan& group : plan.groups) {
    Json windows = Json::array();
    for (const WindowPlan& window : group.windows) windows.push_back(each(window));
    groups.push_back({{"windows", windows}});
  }
  return groups;
}

}  // namespace

Json plan_head_json(const StepPlan& plan) {
  const AttentionShape& s = plan.shape;
  return {{"hash", fmt::format("{:016x}", plan_hash(plan))},
          {"lengths_hash", fmt::format("{:016x}", lengths_hash(plan))},
          {"layout_hash", fmt::format("{:016x}", layout_hash(plan))},
          {"format_version", kPlanFormatVersion},
          {"dp", plan.dp()},
          {"cp", plan.cp},
          {"shard", plan.sharder},
          {"scheme", plan.scheme},
          {"seed", plan.seed},
          {"shape",
           {{"heads", s.heads},
            {"kv_heads", s.kv_heads},
            {"head_dim", s.head_dim},
            {"v_head_dim", s.v_head_dim},
            {"element_bytes", s.element_bytes},
            {"mask", {{"left", s.mask.left}, {"right", s.mask.right}}}}}};
}

Json plan_loads_json(const StepPlan& plan) {
  return each_window(plan, [&](const WindowPlan& window) { return window_loads_json(plan, window); });
}

Json plan_json(const StepPlan& plan) {
  Json body = plan_head_json(plan);
  body["groups"] = each_window(plan, [&](const WindowPlan& window) { return window_json(plan, window); });
  return body;
}

Json verify_json(const VerifyReport& report) {
  Json violations = Json::array();
  for (const Violation& v : report.violations)
    violations.push_back({{"rule", v.rule}, {"message", v.message}});
  return {{"valid", report.ok()},
          {"pairs", report.pairs},
          {"peak_bytes", report.peak_bytes},
          {"violations", violations}};
}

}  // namespace counterpoise
