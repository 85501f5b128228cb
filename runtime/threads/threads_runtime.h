#pragma once

#include <memory>

#include "core/config/fields.h"
#include "core/runtime.h"
#include "runtime/host/modelled_compute.h"

namespace trigram {

struct ThreadsOptions {
  double watchdog_s = 30;
  ModelledCompute modelled_compute = ModelledCompute::automatic;
};
FieldTable<ThreadsOptions> threads_fields();

/// The world in real time on this machine: a rank is a thread, a forked stream another thread with
/// a queue of tasks, a message one copy in memory, the clock the steady clock.
///
/// An exception on any stream ends the world at once: whatever blocks or sleeps is woken, all
/// threads are joined, and `launch` rethrows it. When every stream blocks and nothing moves for
/// `watchdog_s`, `launch` throws HangError. `automatic` modelled computation is slept: whoever
/// knows the workload decides before. Forked streams must be destroyed before their rank's main
/// task returns, and before what their tasks refer to.
std::unique_ptr<Runtime> make_threads_runtime(const ThreadsOptions& options = {});

}  // namespace trigram
