// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <vector>

namespace counterpoise {

// Workers that threads borrow, so that as many are made as threads run at once, and their memory stays in a
// cache from one item to the next.
template <class Worker>
class Lending {
 public:
  // work(worker) with a worker that nobody else holds; make() -> unique_ptr<Worker> where none is idle.
  template <class Make, class Work>
  void with(Make make, Work work) {
    std::unique_ptr<Worker> worker = take();
    if (!worker) worker = make();
    work(*worker);  // one whose work threw is not lent again
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

 private:
  std::unique_ptr<Worker> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<Worker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace counterpoise
