// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/plan_file.h"

#include "base/files.h"
#include "plan/hash.h"
#include "plan/plan_codec.h"

namespace counterpoise {
namespace {

constexpr std::string_view kMagic = "CPOISEPL";

struct Fields {
  template <typename Coder>
  static void range(Coder& coder, Range& range) {
    codec::number(coder, "begin", range.begin);
    codec::number(coder, "end", range.end);
  }

  template <typename Coder>
  static void heads(Coder& coder, HeadRange& heads) {
    codec::number(coder, "heads.begin", heads.begin);
    codec::number(coder, "heads.end", heads.end);
  }

  template <typename Coder>
  static void pieces(Coder& coder, Pieces& list) {
    codec::number(coder, "pieces.first", list.first);
    codec::number(coder, "pieces.count", list.count);
  }

  template <typename Coder>
  static void shape(Coder& coder, AttentionShape& shape) {
    codec::number(coder, "heads", shape.heads);
    codec::number(coder, "kv_heads", shape.kv_heads);
    codec::number(coder, "head_dim", shape.head_dim);
    codec::number(coder, "v_head_dim", shape.v_head_dim);
    codec::number(coder, "element_bytes", shape.element_bytes);
    codec::number(coder, "mask.left", shape.mask.left);
    codec::number(coder, "mask.right", shape.mask.right);
  }

  template <typename Coder>
  static void piece(Coder& coder, PlanPiece& piece) {
    codec::number(coder, "piece.document", piece.document);
    range(coder, piece.range);
    codec::number(coder, "piece.row", piece.row);
  }

  template <typename Coder>
  static void buffer(Coder& coder, Buffer& buffer) {
    codec::number(coder, "buffer.rank", buffer.rank);
    codec::number(coder, "buffer.payload", buffer.payload);
    codec::number(coder, "buffer.home", buffer.home);
    heads(coder, buffer.heads);
    pieces(coder, buffer.pieces);
    codec::number(coder, "buffer.rows", buffer.rows);
    codec::number(coder, "buffer.bytes", buffer.bytes);
    codec::number(coder, "buffer.first_op", buffer.first_op);
    codec::number(coder, "buffer.last_op", buffer.last_op);
  }

  template <typename Coder>
  static void transfer(Coder& coder, Transfer& transfer) {
    codec::number(coder, "transfer.src", transfer.src);
    codec::number(coder, "transfer.dst", transfer.dst);
    codec::number(coder, "transfer.payload", transfer.payload);
    heads(coder, transfer.heads);
    pieces(coder, transfer.pieces);
    codec::number(coder, "transfer.from", transfer.from);
    codec::number(coder, "transfer.into", transfer.into);
    codec::number(coder, "transfer.tag", transfer.tag);
    codec::number(coder, "transfer.bytes", transfer.bytes);
  }

  template <typename Coder>
  static void tile(Coder& coder, Tile& tile) {
    codec::number(coder, "tile.document", tile.document);
    codec::number(coder, "tile.rank", tile.rank);
    range(coder, tile.q);
    range(coder, tile.kv);
    heads(coder, tile.heads);
    codec::number(coder, "tile.q_buffer", tile.q_buffer);
    codec::number(coder, "tile.kv_buffer", tile.kv_buffer);
    codec::number(coder, "tile.q_result", tile.q_result);
    codec::number(coder, "tile.kv_result", tile.kv_result);
  }

  template <typename Coder>
  static void merge(Coder& coder, Merge& merge) {
    codec::number(coder, "merge.from", merge.from);
    codec::number(coder, "merge.into", merge.into);
  }

  template <typename Coder>
  static void op(Coder& coder, Op& op) {
    codec::number(coder, "op.kind", op.kind);
    codec::number(coder, "op.index", op.index);
    codec::number(coder, "op.count", op.count);
  }

  template <typename Coder>
  static void pass(Coder& coder, Pass& pass) {
    codec::vector(coder, "buffers", pass.buffers, buffer<Coder>);
    codec::vector(coder, "transfers", pass.transfers, transfer<Coder>);
    codec::vector(coder, "tiles", pass.tiles, tile<Coder>);
    codec::vector(coder, "merges", pass.merges, merge<Coder>);
    codec::vector(coder, "ops", pass.ops, op<Coder>);
    codec::vector(coder, "programs", pass.programs,
                  [](Coder& c, int32_t& offset) { codec::number(c, "program", offset); });
  }

  template <typename Coder>
  static void documents(Coder& coder, std::vector<PlanDocument>& documents) {
    codec::vector(coder, "documents", documents, [](Coder& c, PlanDocument& document) {
      codec::number(c, "document.id", document.id);
      codec::number(c, "document.length", document.length);
    });
  }

  template <typename Coder>
  static void layout(Coder& coder, WindowPlan& window) {
    codec::vector(coder, "pieces", window.pieces, piece<Coder>);
    codec::vector(coder, "placement", window.placement, pieces<Coder>);
  }

  template <typename Coder>
  static void window(Coder& coder, WindowPlan& window) {
    documents(coder, window.documents);
    layout(coder, window);
    pass(coder, window.forward);
    pass(coder, window.backward);
  }

  template <typename Coder, typename EachWindow>
  static void groups(Coder& coder, StepPlan& plan, EachWindow each) {
    codec::vector(coder, "groups", plan.groups,
                  [&](Coder& c, GroupPlan& group) { codec::vector(c, "windows", group.windows, each); });
  }

  template <typename Coder>
  static void plan(Coder& coder, StepPlan& plan) {
    codec::number(coder, "cp", plan.cp);
    shape(coder, plan.shape);
    codec::text(coder, "sharder", plan.sharder);
    codec::text(coder, "scheme", plan.scheme);
    codec::number(coder, "seed", plan.seed);
    groups(coder, plan, window<Coder>);
  }
};

// The writer changes nothing; one description of the fields serves both ways, hence the cast.
StepPlan& for_writing(const StepPlan& plan) {
  return const_cast<StepPlan&>(plan);
}

std::string body_of(const StepPlan& plan) {
  codec::Writer writer;
  Fields::plan(writer, for_writing(plan));
  return writer.take();
}

void put_fixed(std::string& bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t get_fixed(codec::Reader& reader, const char* field, int size) {
  uint64_t value = 0;
  for (int i = 0; i < size; ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(reader.next(field))) << (8 * i);
  }
  return value;
}

}  // namespace

uint64_t plan_hash(const StepPlan& plan) {
  return hash_bytes(body_of(plan));
}

uint64_t lengths_hash(const StepPlan& plan) {
  codec::Writer writer;
  Fields::groups(writer, for_writing(plan),
                 [](codec::Writer& w, WindowPlan& window) { Fields::documents(w, window.documents); });
  return hash_bytes(writer.take());
}

// Ranges per rank, however the window stores its lists.
uint64_t layout_hash(const StepPlan& plan) {
  codec::Writer writer;
  Fields::groups(writer, for_writing(plan), [](codec::Writer& w, WindowPlan& window) {
    for (const Pieces& list : window.placement) {
      w.integer("count", static_cast<uint64_t>(list.count));
      for (const PlanPiece& piece : window.list(list)) {
        w.integer("document", static_cast<uint64_t>(piece.document));
        w.integer("begin", static_cast<uint64_t>(piece.range.begin));
        w.integer("end", static_cast<uint64_t>(piece.range.end));
      }
    }
  });
  return hash_bytes(writer.take());
}

std::string save_plan(const StepPlan& plan) {
  std::string bytes(kMagic);
  const std::string body = body_of(plan);
  put_fixed(bytes, kPlanFormatVersion, 4);
  put_fixed(bytes, hash_bytes(body), 8);
  put_fixed(bytes, lengths_hash(plan), 8);
  put_fixed(bytes, layout_hash(plan), 8);
  return bytes + body;
}

StepPlan load_plan(std::string_view bytes, const std::string& name) {
  codec::Reader reader(bytes, name);
  for (const char expected : kMagic) {
    if (reader.next("magic") != expected) reader.fail("magic", "not a plan file");
  }
  if (get_fixed(reader, "version", 4) != kPlanFormatVersion)
    reader.fail("version", "a version this build cannot read");
  const uint64_t body_hash = get_fixed(reader, "hash", 8);
  const uint64_t lengths = get_fixed(reader, "lengths hash", 8);
  const uint64_t layout = get_fixed(reader, "layout hash", 8);
  if (hash_bytes(bytes.substr(bytes.size() - reader.left())) != body_hash)
    reader.fail("hash", "the content was changed");
  StepPlan plan;
  Fields::plan(reader, plan);
  if (reader.left() > 0) reader.fail("end", "bytes after the plan");
  for (const GroupPlan& group : plan.groups) {
    for (const WindowPlan& window : group.windows) {
      for (const Pieces& list : window.placement) {
        const int64_t end = int64_t{list.first} + list.count;
        if (list.first < 0 || list.count < 0 || end > static_cast<int64_t>(window.pieces.size())) {
          reader.fail("placement", "a list beyond the pieces");
        }
      }
    }
  }
  if (lengths_hash(plan) != lengths) reader.fail("lengths hash", "not that of the documents");
  if (layout_hash(plan) != layout) reader.fail("layout hash", "not that of the placement");
  return plan;
}

void write_plan_file(const std::string& path, const StepPlan& plan) {
  write_file(path, save_plan(plan));
}

StepPlan read_plan_file(const std::string& path) {
  return load_plan(read_file(path), path == "-" ? "stdin" : path);
}

}  // namespace counterpoise
