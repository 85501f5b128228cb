#pragma once

#include <limits>
#include <optional>

namespace trigram {

/// A time during which the worker of a rank is not there, and its memory is lost.
struct Absence {
  enum Kind {
    crash,      // the other workers notice it `noticed_after_s` later
    leave,      // announced, so that they know at once
    late,       // the worker has not been there yet
    suspicion,  // the worker is there, but is taken for one that has failed
  };
  Kind kind = crash;
  double noticed_after_s = 0;
  /// From when on a worker is there again, in seconds of Stream::now; infinite: never.
  double back_s = std::numeric_limits<double>::infinity();
};

/// The workers that come and go during a run whose algorithm carries on without them. The program
/// provides it; it knows what happens, and when. The ranks agree on a view of who is there by
/// messages (algorithms/membership/members.h). Any thread may call it.
class Membership {
 public:
  virtual ~Membership() = default;
  /// True if the worker of `rank` is there from the beginning.
  virtual bool begins(int rank) const = 0;
  /// The absence of `rank` that has begun by `now_s`, in seconds of Stream::now, if there is one.
  /// Called at the beginning of every step; each absence is returned once. A worker whose absence
  /// has begun makes no further step before it is back, also if it was suspected falsely.
  virtual std::optional<Absence> absence(int rank, double now_s) = 0;

  // Reports, for the summary of the run.

  /// The members have changed: rank 0 has agreed on the view `epoch`, with `members` workers.
  virtual void view_changed(long epoch, int members) = 0;
  /// The worker of `rank` has stopped before `step`.
  virtual void stopped(int rank, long step, double now_s) = 0;
  /// The worker of `rank` goes on with `step`, with the state that `peer` has sent.
  virtual void healed(int rank, int peer, long step, double now_s) = 0;
  /// A round of averages has closed without the worker of `rank`, which leaves out `steps` steps.
  virtual void late(int rank, long steps) = 0;
};

}  // namespace trigram
