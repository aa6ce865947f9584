// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/execute.h"

namespace counterpoise {

// Runs one rank's program of one pass. Knows the ops only: no scheme, no sharder, no tensor.
class RankProgram {
 public:
  RankProgram(const PassContext& context, Communicator& group, Kernel& kernel, Clock& clock,
              std::vector<Span>& spans);
  void run();

 private:
  struct Message {
    Communicator::Request request = 0;
    Flight flight;
    double stamp = 0;  // on a virtual clock messages carry their arrival time instead of data
  };

  void perform(int32_t at, const Op& op);
  void send(int32_t index);
  void receive(int32_t index);
  void wait(int32_t at, int32_t index);
  void compute(SpanKind kind, int32_t at, const Op& op);
  void record(SpanKind kind, int32_t peer, int32_t index, double begin, double end);
  bool is_sender(const Transfer& transfer) const { return transfer.src == context_.rank; }

  const PassContext context_;
  const Pass& pass_;
  Communicator& group_;
  Kernel& kernel_;
  Clock& clock_;
  std::vector<Span>& spans_;
  std::vector<Message> messages_;  // by transfer
};

}  // namespace counterpoise
