#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/membership/coordinator.h"

namespace trigram {

struct MembersAgent;

/// The work of a worker in the background of its steps, if it has any.
struct BackgroundAverages {
  /// Averages with the other of two members, on the stream `state`.
  std::function<void(Context, int partner)> average = {};
  /// Called when the weights have been replaced by those of another worker.
  std::function<void(Context)> restart = {};
  /// True if the steps of workers need not correspond to each other.
  bool no_rounds = false;
};

/// A training loop whose workers come and go (Run::membership), as one rank sees it. A worker stops
/// between two steps: an exchange that has begun is completed, and then the rank takes part in
/// nothing until a worker is there again. That one begins as a copy of another worker, bit for bit,
/// with the same step, or with its own next step if that comes later and the algorithm has no
/// rounds.
///
/// The constructor forks three streams per rank: `members`, for control messages to and from rank
/// 0, which owns the Coordinator; `state`, for the state of workers and for exchanges in the
/// background; and `grace`, which waits on rank 0.
class Members {
 public:
  /// Collective, on the main stream. `run` must outlive the streams' tasks.
  Members(Context ctx, Run& run, Rounds rounds, BackgroundAverages background = {});

  /// Called at the beginning of every step. Returns false if the worker of this rank is not there:
  /// the step must then be left out. Sends the state of this worker to others that need it.
  bool present(Context ctx);
  /// Called at the end of a step after which `round` is due: waits until the members of the group
  /// of this rank are known, and returns them, in ascending order. Returns nothing if the round has
  /// closed without this rank. Run::state is then that of a member, and the worker goes on with the
  /// step at which that member was.
  std::optional<std::vector<int>> arrive(Context ctx, long round);
  /// The same for rounds in the background: returns at once.
  void announce(long round);
  /// Asks for an average with `partner` in the background. If it is not there, none takes place.
  void request(int partner);
  /// Waits until the average in the background that was announced or requested last is over.
  void wait_for_average(Context ctx);
  /// Called after the last step: serves the other workers until all that are left have made theirs.
  void finish(Context ctx);

 private:
  struct Serve {
    int rank;
    Takes what;
    long least;
  };
  void post(int kind, std::int64_t argument = 0, std::int64_t b = 0);
  /// Waits for the next message, and notes what it says. Returns false if the world is ending.
  bool receive(Context ctx);
  void note(const Message& message);
  void serve_others(Context ctx);
  void be_away(Context ctx, const Absence& absence);
  bool tell_rank_0(Context ctx, int kind);
  bool sleep_until(Context ctx, double date_s);
  std::optional<long> take_state(Context ctx, Takes what);
  void on_state_stream(Context ctx, Task task);

  Run& run_;
  const int rank_, ranks_;
  const bool has_rounds_;
  // The stream to which another one submits is destroyed later.
  std::unique_ptr<Stream> state_, grace_, stream_;
  std::shared_ptr<MembersAgent> agent_;
  std::shared_ptr<Work> loop_;
  // What messages have said.
  std::deque<Serve> serves_;
  std::vector<int> group_;  // of the answer that is being received
  std::optional<std::vector<int>> answer_;
  std::set<long> averaged_;
  std::optional<Message> state_comes_;
  bool quiet_ = false, late_ = false, keep_ = false, ended_ = false, gone_ = false;
  long number_ = 0;  // of the latest average in the background
  bool awaits_average_ = false;
};

}  // namespace trigram
