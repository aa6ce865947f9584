// SPDX-License-Identifier: Apache-2.0
#ifdef COUNTERPOISE_WITH_MPI
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <new>
#include <optional>
#include <thread>
#include <unordered_map>

#include "comm/arena.h"
#include "comm/watchdog.h"
#include "counterpoise/communicator.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr int64_t kLargestMessage = 1 << 30;  // MPI counts are int; larger ones go in pieces

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw_error(ErrorKind::kCheckFailed, "{}: {}", call, std::string(text, static_cast<size_t>(length)));
}

// MPI_Init .. MPI_Finalize. A failed run is not finalised: that would wait for ranks that are gone.
class Session {
 public:
  Session() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~Session() {
    if (!failed) MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  bool failed = false;
};

// A window of memory that all ranks of the node have mapped. Collective to make; each rank its own bytes.
class SharedWindow {
 public:
  SharedWindow(MPI_Comm node, int64_t bytes) {
    check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node, &mine_, &window_),
          "MPI_Win_allocate_shared");
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  std::byte* mine() const { return mine_; }
  std::byte* of(int node_rank) const {
    MPI_Aint size = 0;
    int unit = 0;
    std::byte* memory = nullptr;
    check(MPI_Win_shared_query(window_, node_rank, &size, &unit, &memory), "MPI_Win_shared_query");
    return memory;
  }
  void release() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* mine_ = nullptr;
};

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(const MpiOptions& options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_),
          "MPI_Comm_split_type");
    find_neighbours();
    open_board(options.limits);
    watchdog_.emplace(*board_, rank_, options.on_fatal);
    MPI_Barrier(MPI_COMM_WORLD);  // all process ids are on the board
  }

  ~MpiCommunicator() override {
    if (!session_.failed) enter(Phase::kDone);
    watchdog_.reset();
    if (session_.failed) return;
    if (arena_window_) arena_window_->release();
    board_window_->release();
    MPI_Comm_free(&node_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const char* name() const override { return "mpi"; }
  Board& board() override { return *board_; }

  Request isend(int peer, int tag, std::span<const std::byte> data) override {
    return start(data.size(), [&](size_t offset, int count, MPI_Request* request) {
      check(MPI_Isend(data.data() + offset, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request),
            "MPI_Isend");
    });
  }

  Request irecv(int peer, int tag, std::span<std::byte> into) override {
    return start(into.size(), [&](size_t offset, int count, MPI_Request* request) {
      check(MPI_Irecv(into.data() + offset, count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request),
            "MPI_Irecv");
      expected_.back() = count;
    });
  }

  bool test(Request request) override {
    auto found = open_pieces_.find(request);
    CP_CHECK(found != open_pieces_.end());
    if (found->second > 0) progress();
    if (found->second > 0) return false;
    open_pieces_.erase(found);
    return true;
  }

  // Completes whatever is complete, of any request: no message waits for another one's turn.
  void progress() override {
    if (pending_.empty()) return;
    const int count = static_cast<int>(pending_.size());
    finished_.resize(pending_.size());
    statuses_.resize(pending_.size());
    int finished = 0;
    const int code = MPI_Testsome(count, pending_.data(), &finished, finished_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
    if (finished == MPI_UNDEFINED || finished == 0) return;
    for (int i = 0; i < finished; ++i)
      finish(static_cast<size_t>(finished_[static_cast<size_t>(i)]), statuses_[static_cast<size_t>(i)]);
    drop_finished();
  }

  void idle() override {
    if (crowded_) sched_yield();
  }

  // MPI cannot take a message back; the process is about to end and never touches its buffers again. They
  // may still be written to, so whoever abandons must exit rather than go on.
  void abandon() override {
    session_.failed = true;
    for (MPI_Request& request : pending_) {
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    pending_.clear();
    owners_.clear();
    expected_.clear();
    open_pieces_.clear();
  }

  void reserve_shared(int64_t bytes) override {
    CP_CHECK(!arena_window_);
    arena_window_.emplace(node_, bytes);
    arena_.emplace(bytes);
    segments_.assign(static_cast<size_t>(size_), nullptr);
    for (int peer = 0; peer < size_; ++peer) {
      if (can_map(peer))
        segments_[static_cast<size_t>(peer)] = arena_window_->of(node_rank_[static_cast<size_t>(peer)]);
    }
    reserved_ = bytes;
  }

  std::byte* allocate_shared(int64_t bytes) override {
    const int64_t offset = arena_ ? arena_->take(bytes) : -1;
    if (offset < 0) {
      throw_error(ErrorKind::kInfeasible,
                  "rank {}: {} more bytes do not fit the {} bytes of shared memory reserved", rank_, bytes,
                  reserved_);
    }
    return arena_window_->mine() + offset;
  }
  void free_shared(std::byte* memory, int64_t bytes) override {
    if (arena_) arena_->give_back(memory - arena_window_->mine(), bytes);
  }
  bool can_map(int peer) const override { return node_rank_[static_cast<size_t>(peer)] != MPI_UNDEFINED; }
  uint64_t locate(const std::byte* memory) const override {
    return static_cast<uint64_t>(memory - arena_window_->mine());
  }
  const std::byte* map(int owner, uint64_t offset) const override {
    return segments_[static_cast<size_t>(owner)] + offset;
  }

 private:
  void find_neighbours() {
    MPI_Group world{}, node{};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(node_, &node);
    std::vector<int> all(static_cast<size_t>(size_));
    for (int peer = 0; peer < size_; ++peer) all[static_cast<size_t>(peer)] = peer;
    node_rank_.resize(static_cast<size_t>(size_));
    MPI_Group_translate_ranks(world, size_, all.data(), node, node_rank_.data());
    int node_size = 0;
    MPI_Comm_size(node_, &node_size);
    crowded_ = node_size > static_cast<int>(std::thread::hardware_concurrency());
    MPI_Group_free(&world);
    MPI_Group_free(&node);
  }

  // The board of the node lies with its first rank. Ranks of other nodes keep pid 0: not watched by process.
  void open_board(const RunLimits& limits) {
    int node_rank = 0;
    MPI_Comm_rank(node_, &node_rank);
    board_window_.emplace(node_, node_rank == 0 ? static_cast<int64_t>(sizeof(RankState)) * size_ : 0);
    RankState* states = reinterpret_cast<RankState*>(board_window_->of(0));
    if (node_rank == 0) {
      for (int peer = 0; peer < size_; ++peer) new (&states[peer]) RankState;
    }
    MPI_Barrier(node_);
    board_.emplace(states, size_, limits);
    board_->state(rank_).pid = getpid();
    enter(Phase::kComputing);
  }

  template <typename Post>
  Request start(size_t bytes, const Post& post) {
    const Request request = next_++;
    int pieces = 0;
    size_t offset = 0;
    do {
      const auto count =
          static_cast<int>(std::min<int64_t>(static_cast<int64_t>(bytes - offset), kLargestMessage));
      pending_.push_back(MPI_REQUEST_NULL);
      owners_.push_back(request);
      expected_.push_back(-1);
      post(offset, count, &pending_.back());
      offset += static_cast<size_t>(count);
      ++pieces;
    } while (offset < bytes);
    open_pieces_[request] = pieces;
    return request;
  }

  void finish(size_t index, const MPI_Status& status) {
    if (expected_[index] >= 0) {
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (status.MPI_ERROR == MPI_ERR_TRUNCATE || count != expected_[index]) {
        throw_error(ErrorKind::kCheckFailed,
                    "rank {}: message {} from rank {} has {} bytes, not the {} expected", rank_,
                    status.MPI_TAG, status.MPI_SOURCE, count, expected_[index]);
      }
    }
    --open_pieces_[owners_[index]];
  }

  void drop_finished() {
    size_t kept = 0;
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i] == MPI_REQUEST_NULL) continue;
      pending_[kept] = pending_[i];
      owners_[kept] = owners_[i];
      expected_[kept++] = expected_[i];
    }
    pending_.resize(kept);
    owners_.resize(kept);
    expected_.resize(kept);
  }

  Session session_;  // first: everything below needs MPI
  int rank_ = 0, size_ = 1;
  MPI_Comm node_ = MPI_COMM_NULL;
  std::vector<int> node_rank_;  // by world rank; MPI_UNDEFINED on other nodes
  bool crowded_ = false;        // more ranks than cores on this node
  std::optional<SharedWindow> board_window_, arena_window_;
  std::optional<Board> board_;
  std::optional<Watchdog> watchdog_;
  std::optional<Arena> arena_;
  int64_t reserved_ = 0;
  std::vector<std::byte*> segments_;

  Request next_ = 1;
  std::vector<MPI_Request> pending_;  // parallel arrays, one entry per piece
  std::vector<Request> owners_;
  std::vector<int> expected_;  // bytes of a receive; -1 for a send
  std::vector<int> finished_;
  std::vector<MPI_Status> statuses_;
  std::unordered_map<Request, int> open_pieces_;
};

}  // namespace

bool mpi_built() {
  return true;
}

std::unique_ptr<Communicator> make_mpi_communicator(const MpiOptions& options) {
  return std::make_unique<MpiCommunicator>(options);
}

}  // namespace counterpoise
#endif
