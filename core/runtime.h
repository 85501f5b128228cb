#pragma once

#include <stdexcept>

#include "core/context.h"
#include "core/json.h"

namespace trigram {

/// An execution world, such as the simulator, threads or MPI processes. Every process creates an
/// instance for each launch.
class Runtime {
 public:
  virtual ~Runtime() = default;
  /// Calls `rank_main` once for each rank that this process hosts, on that rank's main stream, and
  /// returns when all calls have ended. An exception on any stream of any rank ends the world on
  /// all ranks and is rethrown here. A hang ends the world in the same way, with a
  /// HangError that says what each stream waits for.
  virtual void launch(const Layout& layout, const Task& rank_main) = 0;
  /// Properties of the world, by name, that are added to the result after a launch.
  virtual Json notes() const { return Json::object(); }
};

/// The simulation was ended at the date that World::end_at had set.
class SimulationEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// No rank can make progress: `what()` says "rank 3 waits for ...", one line per waiting stream.
class HangError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace trigram
