#pragma once

#include <memory>

#include "core/config/fields.h"
#include "core/runtime.h"
#include "netmodels/cluster.h"
#include "runtime/host/modelled_compute.h"

namespace trigram {

struct ThreadsOptions {
  /// none: a message takes as long as its copy. cluster: as long as on the network of the cluster.
  enum class Shaping { none, cluster } shaping = Shaping::none;
  std::size_t bucket_depth = 1500;  // bytes that an emulated link passes at a time
  double watchdog_s = 30;
  ModelledCompute modelled_compute = ModelledCompute::slept;
};
FieldTable<ThreadsOptions> threads_fields();

/// The world in real time on this machine: a rank is a thread, a forked stream another thread with
/// a queue of tasks, a message one copy in memory, the clock the steady clock.
///
/// Shaped, messages between ranks take as long as on the network of `cluster`, whose layout
/// `launch` is to be given: latencies, links shared by priced bytes, limits of connections,
/// overheads.
///
/// An exception on any stream ends the world at once: whatever blocks or sleeps is woken, all
/// threads are joined, and `launch` rethrows it. When every stream blocks and nothing moves for
/// `watchdog_s`, `launch` throws HangError. Forked streams must be destroyed before their rank's
/// main task returns, and before what their tasks refer to.
std::unique_ptr<Runtime> make_threads_runtime(const ThreadsOptions& options = {},
                                              const Cluster& cluster = {});

}  // namespace trigram
