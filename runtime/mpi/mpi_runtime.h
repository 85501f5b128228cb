#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/accelerator_backend.h"
#include "core/config/fields.h"
#include "core/runtime.h"
#include "netmodels/transport.h"
#include "runtime/host/modelled_compute.h"

namespace trigram {

/// The properties of the inter-node network that `trigram emulate` emulates. All other properties
/// are those of the machine.
enum class Emulated { nothing, bandwidth, bandwidth_and_latency };

/// Eager sends, for an inter-node network that delays packets by itself. In such a network a
/// rendezvous of MPI would cost three latencies per message, and one more until the sender learns
/// of the completion. So messages leave at once, in pieces so small that MPI sends them eagerly. A
/// send completes when the kernel has its last piece or, with a rendezvous transport, one latency
/// later.
struct EagerSends {
  double latency_s = 0;          // seconds; 0: no eager sends
  std::size_t piece_nbytes = 0;  // bytes of the largest piece that MPI sends eagerly
};

/// Which messages are copied. The send of a copied message completes when the transport accepts it.
enum class MpiSends { automatic, buffered, synchronous };

struct MpiOptions {
  double watchdog_s = 30;
  ModelledCompute modelled_compute = ModelledCompute::slept;
  bool padded = false;
  Emulated emulated = Emulated::nothing;
  double loss = 0;  // fraction of packets that the emulated network drops
  MpiSends sends = MpiSends::automatic;
  // The following options are not part of a configuration.
  double added_latency_s = 0;  // seconds that messages to other nodes wait before they leave
  EagerSends eager = {};       // for messages to other nodes
  Transport transport = {};    // says how many messages it accepts
};
/// Options of all worlds whose processes are started by an MPI launcher.
FieldTable<MpiOptions> mpi_job_fields();
FieldTable<MpiOptions> mpi_fields();

/// The reason why this process cannot run a rank: the build has no MPI, or the process was not
/// started by a launcher. Empty if it can.
std::string mpi_unavailable_reason();

/// The reason why processes of this build could not run ranks, if they were started now. Empty if
/// they could.
std::string mpi_absent_reason();

/// The rank of this process in a job that mpirun or srun started, and the number of processes.
/// Computed without calling MPI.
struct MpiProcess {
  int rank = 0, size = 1;
};
MpiProcess mpi_process();

/// Creates the accelerator of this rank. All ranks call it, each on its main thread.
using AcceleratorFactory = std::function<std::unique_ptr<AcceleratorBackend>(Bootstrap&, Waiter&)>;

/// Starts MPI in this process. All processes call it, at most `watchdog_s` apart (see
/// mpi::Session::get), or let the functions below start MPI.
void mpi_start(double watchdog_s);

/// An allgather of strings over the processes of the job; the result is indexed by rank. All
/// processes must call it. If some processes do not within `watchdog_s` seconds (at least 5 s), the
/// job is aborted with a line that names them.
std::vector<std::string> mpi_exchange(const std::string& mine,
                                      double watchdog_s = MpiOptions{}.watchdog_s);

/// Prints `message` and ends all processes of the job. Call it for an error on this process alone:
/// otherwise the other processes would wait until the watchdog ends them.
[[noreturn]] void mpi_abort(const std::string& message, int exit_code);

/// The real-time world whose ranks are processes started by mpirun or srun, and whose streams are
/// threads. `launch` throws ConfigError unless there is one process per rank of the layout.
/// Messages are MPI messages. Every stream has its own communicator, and one more is for control
/// messages.
///
/// All processes must call `launch`; it returns on all of them, or throws the same error on all of
/// them. When every stream of every rank is blocked and nothing progresses for `watchdog_s`
/// seconds, it throws HangError. A rank that sends nothing for that long (at least 5 s) was stopped
/// or has died: the whole job is then aborted with a line that names the rank, and with exit code
/// 124.
///
/// With an added latency, messages and control messages to other nodes leave only when this time
/// has passed after they were sent, and MPI's own collectives are not used.
///
/// With eager sends, a message to another node leaves whether or not its receive is posted, and the
/// sender does not wait for the receive.
///
/// With one accelerator per rank, tensors live on the accelerators and messages travel between
/// them. Control messages and the watchdog still use MPI.
std::unique_ptr<Runtime> make_mpi_runtime(const MpiOptions& options = {},
                                          AcceleratorFactory make_accelerator = {});

}  // namespace trigram
