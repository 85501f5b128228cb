#pragma once

#include <memory>

#include "core/config/fields.h"
#include "core/runtime.h"
#include "netmodels/cluster.h"
#include "runtime/host/modelled_compute.h"

namespace trigram {

struct ThreadsOptions {
  /// none: a message takes as long as its copy in memory. cluster: a message takes as long as on
  /// the cluster's network.
  enum class Shaping { none, cluster } shaping = Shaping::none;
  std::size_t bucket_depth = 1500;  // bytes that an emulated link serves at a time
  double watchdog_s = 30;
  ModelledCompute modelled_compute = ModelledCompute::slept;
};
FieldTable<ThreadsOptions> threads_fields();

/// The real-time world on this machine. A rank is a thread, a forked stream is another thread with
/// a queue of tasks, a message is one copy in memory, and the clock is the steady clock.
///
/// With shaping, messages between ranks take as long as on the network of `cluster`. The emulation
/// covers latencies, links that messages share by their priced bytes, limits of connections, and
/// overheads. `launch` must then be given the layout of `cluster`.
///
/// An exception on any stream ends the world at once: streams that block or sleep are woken, all
/// threads are joined, and `launch` rethrows the exception. When every stream is blocked and
/// nothing progresses for `watchdog_s`, `launch` throws HangError. Forked streams must be destroyed
/// before their rank's main task returns, and before the objects that their tasks refer to.
std::unique_ptr<Runtime> make_threads_runtime(const ThreadsOptions& options = {},
                                              const Cluster& cluster = {});

}  // namespace trigram
