// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/execute.h"

namespace counterpoise {
namespace {

class PricedKernel final : public Kernel {
 public:
  explicit PricedKernel(const Prices& prices) : prices_(prices) {}
  void begin_pass(const PassContext& context) override { context_ = context; }
  void end_pass() override {}
  void before_op(int32_t) override {}
  void after_op(int32_t) override {}
  double attend(std::span<const Tile> tiles) override {
    return prices_.attend(context_.plan->shape, context_.window->documents, tiles, context_.backward);
  }
  double merge(int32_t merge) override {
    const int32_t from = context_.pass->merges[static_cast<size_t>(merge)].from;
    return prices_.merge(context_.pass->buffers[static_cast<size_t>(from)]);
  }
  std::span<const std::byte> outgoing(int32_t) override { return {}; }
  void sent(int32_t) override {}
  std::span<std::byte> incoming(int32_t) override { return {}; }
  void received(int32_t) override {}

 private:
  const Prices& prices_;
  PassContext context_;
};

}  // namespace

std::unique_ptr<Kernel> make_priced_kernel(const Prices& prices) {
  return std::make_unique<PricedKernel>(prices);
}

}  // namespace counterpoise
