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

/// The properties of the inter-node network that `trigram emulate` emulates; all others are the
/// machine's own.
enum class Emulated { nothing, bandwidth, bandwidth_and_latency };

/// Eager sends, for an inter-node network that delays packets by itself. There a rendezvous would
/// cost three latencies per message, and one more until the sender learns of the completion. So
/// messages leave at once, in pieces small enough for MPI to send them eagerly. A send completes
/// when the kernel has its last piece or, with a rendezvous transport, one latency after that.
struct EagerSends {
  double latency_s = 0;          // 0: no eager sends
  std::size_t piece_nbytes = 0;  // the largest piece that MPI sends eagerly
};

/// Which messages are copied, so that their sends complete when the transport accepts them.
enum class MpiSends { automatic, buffered, synchronous };

struct MpiOptions {
  double watchdog_s = 30;
  ModelledCompute modelled_compute = ModelledCompute::slept;
  bool padded = false;
  Emulated emulated = Emulated::nothing;
  double loss = 0;  // share of packets that the emulated network drops
  MpiSends sends = MpiSends::automatic;
  // Not configurable:
  double added_latency_s = 0;  // time that messages to other nodes wait before they leave
  EagerSends eager = {};       // for messages to other nodes
  Transport transport = {};    // how many messages it accepts
};
/// Options shared by all worlds whose processes an MPI launcher starts.
FieldTable<MpiOptions> mpi_job_fields();
FieldTable<MpiOptions> mpi_fields();

/// The reason why this process cannot run a rank: the build has no MPI, or no launcher started the
/// process. Empty if it can.
std::string mpi_unavailable_reason();

/// The reason why processes of this build that are still to be started could not run ranks. Empty
/// if they could.
std::string mpi_absent_reason();

/// The rank of this process in a job that mpirun or srun started, and the number of processes.
/// Computed without calling MPI.
struct MpiProcess {
  int rank = 0, size = 1;
};
MpiProcess mpi_process();

/// Makes the accelerator of this rank. All ranks call it, each on its main thread.
using AcceleratorFactory = std::function<std::unique_ptr<AcceleratorBackend>(Bootstrap&, Waiter&)>;

/// Starts MPI in this process. All processes call it, at most `watchdog_s` apart (see
/// mpi::Session::get), or leave it to the functions below.
void mpi_start(double watchdog_s);

/// An allgather of strings over the processes of the job, indexed by rank. All processes call it.
/// If some do not within `watchdog_s` (at least 5 s), the job is aborted with a line that names
/// them.
std::vector<std::string> mpi_exchange(const std::string& mine,
                                      double watchdog_s = MpiOptions{}.watchdog_s);

/// Prints `message` and ends all processes of the job. For an error on this process alone: without
/// this call the other processes would wait until the watchdog ends them.
[[noreturn]] void mpi_abort(const std::string& message, int exit_code);

/// The real-time world whose ranks are processes that mpirun or srun has started, one per rank of
/// the layout (otherwise ConfigError), and whose streams are threads. Messages are MPI messages,
/// with one communicator per stream and another for control messages.
///
/// All processes call `launch` together, and it returns or throws the same on all of them. When
/// every stream of every rank is blocked and nothing progresses for `watchdog_s`, it throws
/// HangError. A rank that sends nothing for that long (at least 5 s) was stopped or has died: the
/// whole job is then aborted, with a line that names the rank, and exit code 124.
///
/// With an added latency, messages and control messages to other nodes leave that long after their
/// sender is ready, and MPI's own collectives are not used.
///
/// With eager sends, a message to another node leaves whether or not its receive is posted, and the
/// sender does not wait for the receive.
///
/// With one accelerator per rank, tensors live on the accelerators and messages travel between
/// them. Control messages and the watchdog still use MPI.
std::unique_ptr<Runtime> make_mpi_runtime(const MpiOptions& options = {},
                                          AcceleratorFactory make_accelerator = {});

}  // namespace trigram
