// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace counterpoise {

class Board;

// What a rank is at, published on the board so that others can name it when they wait in vain.
enum class Phase : int32_t {
  kStarting,
  kComputing,
  kSending,
  kReceiving,
  kBarrier,
  kReducing,
  kGathering,
  kDone,
  kFailed
};

// What a wait is for: op is the index in the rank's program (-1 outside of one), peer a rank of the
// communicator that waits.
struct Awaited {
  Phase phase = Phase::kReceiving;
  int64_t op = -1;
  int peer = -1;
};

// Messages between the ranks of one run. One object per rank, used by that rank's thread only.
// Messages of one (sender, receiver, tag) arrive in the order sent; others in any order. Nothing blocks
// except wait() and the collectives, and those end with an Error that names rank, op and peer when the
// peer failed, died, stopped or waits for nothing that will come (see docs/execution.md, "Watchdog").
class Communicator {
 public:
  using Request = int64_t;
  static constexpr int kTagLimit = 1 << 30;  // tags of callers are in [0, kTagLimit)

  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const char* name() const = 0;

  // Starts a message. `data` is read until the request is done. `into` must have exactly the size sent.
  virtual Request isend(int peer, int tag, std::span<const std::byte> data) = 0;
  virtual Request irecv(int peer, int tag, std::span<std::byte> into) = 0;
  // True once the request is done, which retires it; must not be asked again after that. Drives all
  // messages of this rank, so calling test or progress now and then is what keeps messages moving.
  virtual bool test(Request request) = 0;
  virtual void progress() = 0;
  // A pause between two polls, never longer than a millisecond.
  virtual void idle() = 0;
  // Forgets every message in flight, so that buffers may be freed; only for a run that ends in an error.
  virtual void abandon() = 0;

  // Memory which ranks of the same node (or process) read in place. reserve is collective and may be called
  // once per run; allocate throws kInfeasible beyond the reservation. locate/map turn an address into an
  // offset that means the same to every rank which can_map the owner.
  virtual void reserve_shared(int64_t bytes) = 0;
  virtual std::byte* allocate_shared(int64_t bytes) = 0;
  virtual void free_shared(std::byte* memory, int64_t bytes) = 0;
  virtual bool can_map(int peer) const = 0;
  virtual uint64_t locate(const std::byte* memory) const = 0;
  virtual const std::byte* map(int owner, uint64_t offset) const = 0;

  // Rank in the communicator of the whole run, and the board all of its ranks share.
  virtual int world_rank(int rank) const { return rank; }
  virtual Board& board() = 0;

  // Polls until done. Throws Error(kCheckFailed) as described above, after abandon(). `pause_seconds` are
  // slept between polls: for a rank that must not disturb what another one times.
  void wait(Request request, const Awaited& awaited, double pause_seconds = 0);
  // Tells the others what this rank is at.
  void enter(Phase phase, int64_t op = -1, int peer = -1);
  // Marks this rank failed, so that the others stop at once, and abandons its messages.
  void fail(const std::string& reason);

  // Collectives: every rank must call them in the same order. Built from messages, so that deadlines
  // and faults act on them as on everything else.
  void barrier(int64_t op = -1);
  // data = sum over ranks, the same bits on every rank (ring reduce-scatter, then all-gather).
  void all_reduce_sum(std::span<float> data, int64_t op = -1);
  void broadcast(std::span<std::byte> data, int root, int64_t op = -1);
  // Every rank's bytes, of any length each, in rank order; meant for small data.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine, int64_t op = -1);

 private:
  void poll(Request request, const Awaited& awaited, double pause_seconds);
};

struct RunLimits {
  double silence_seconds = 5;  // without a heartbeat from a rank's process: it is dead or stopped
  double wait_seconds = 8;     // waiting for a rank that neither computes nor gets on: it never will send
};

// Runs body(communicator) on `ranks` threads and returns when all have ended. The first failure (in time)
// is rethrown; the other ranks have then been stopped by the board.
void run_on_threads(int ranks, const std::function<void(Communicator&)>& body, const RunLimits& limits = {});

// --- MPI -------------------------------------------------------------------------------------------

bool mpi_built();
// Started by mpirun (or srun), by its environment variables? Needs no MPI.
bool mpi_launched();

struct MpiOptions {
  RunLimits limits;
  // Called with a sentence by the watchdog's thread when this process must end although its main thread does
  // not come to a wait: a rank died, or mpirun ends the job. Must print it and exit at once.
  std::function<void(const std::string&)> on_fatal{};
};

// The communicator of all processes. At most one per process; its destructor finalises MPI unless the run
// failed. SIGTERM should be blocked in all threads before (block_sigterm), so that the watchdog receives it.
// Throws kNotBuilt without MPI.
std::unique_ptr<Communicator> make_mpi_communicator(const MpiOptions& options);
void block_sigterm();

// --- wrappers --------------------------------------------------------------------------------------

// Ranks [first, first + size) of `parent` as a communicator of their own.
std::unique_ptr<Communicator> make_group(Communicator& parent, int first, int size);

// Breaks the outside world on purpose, for tests. Counts this rank's sends from 0.
struct Faults {
  uint64_t seed = 1;
  double delay_seconds = 0;          // each message is held for a random time up to this
  bool reorder = false;              // held messages leave in random order (per peer and tag in order)
  int64_t drop_send = -1;            // this send is swallowed
  int64_t die_at_send = -1;          // this send throws instead
  std::function<void()> at_death{};  // what dying means; default: throws Error(kCheckFailed)
};
std::unique_ptr<Communicator> make_faulty(Communicator& inner, const Faults& faults);

}  // namespace counterpoise
