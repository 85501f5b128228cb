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

/// What of the network between nodes is not this machine's own, but made by `trigram emulate`.
enum class Emulated { nothing, bandwidth, bandwidth_and_latency };

/// For a network between nodes that delays packets by itself. A rendezvous would take it three
/// latencies for a message, and another until its sender learns of the end. So messages leave at
/// once, in pieces that MPI sends without asking. A send ends when the kernel has its last piece,
/// or, where the transport is one of rendezvous, as long after that as the piece travels.
struct EagerSends {
  double latency_s = 0;          // 0: none are eager
  std::size_t piece_nbytes = 0;  // what MPI sends without asking
};

/// To whom messages are copied, so that their sends are over when the transport has taken them.
enum class MpiSends { automatic, buffered, synchronous };

struct MpiOptions {
  double watchdog_s = 30;
  ModelledCompute modelled_compute = ModelledCompute::slept;
  bool padded = false;
  Emulated emulated = Emulated::nothing;
  double loss = 0;  // share of packets that the emulated network drops
  MpiSends sends = MpiSends::automatic;
  // No fields:
  double added_latency_s = 0;  // the time that messages to other nodes wait before they leave
  EagerSends eager = {};       // of messages to other nodes
  Transport transport = {};    // which messages it takes
};
/// Of every world whose processes a launcher of MPI starts.
FieldTable<MpiOptions> mpi_job_fields();
FieldTable<MpiOptions> mpi_fields();

/// Why no process can run a rank here: the build has no MPI, or no launcher started this process.
/// Empty when it can.
std::string mpi_unavailable_reason();

/// The same for processes that are still to be started: why this build could not. Empty when it
/// can.
std::string mpi_absent_reason();

/// A process of a job that mpirun or srun started, and how many there are. Does not touch MPI.
struct MpiProcess {
  int rank = 0, size = 1;
};
MpiProcess mpi_process();

/// Makes the accelerator of this rank; called by all, each on its main thread.
using AcceleratorFactory = std::function<std::unique_ptr<AcceleratorBackend>(Bootstrap&, Waiter&)>;

/// Every process of the job says something and gets what all have said, by rank. Called by all.
/// When some do not for `watchdog_s` (not less than 5 s), the job is aborted with a line that names
/// them.
std::vector<std::string> mpi_exchange(const std::string& mine,
                                      double watchdog_s = MpiOptions{}.watchdog_s);

/// Prints `message` and ends the job, all its processes included: for an error on this process
/// alone, for which the others would wait until the watchdog ends them.
[[noreturn]] void mpi_abort(const std::string& message, int exit_code);

/// The world in real time whose ranks are processes that mpirun or srun has started, one per rank
/// of the layout (ConfigError otherwise), and whose streams are threads. Messages are MPI's, over a
/// communicator per stream; control messages have one of their own.
///
/// `launch` is called by all processes together, and returns or throws on all of them alike. When
/// every stream of every rank blocks and nothing moves for `watchdog_s`, it throws HangError. A
/// rank that is not heard of for that long (not less than 5 s) was stopped or has died: then the
/// whole job is aborted, with a line that names it, and exit code 124.
///
/// With an added latency, messages to other nodes leave that long after their sender is ready, and
/// so do control messages; MPI's own collectives are then not used.
///
/// With eager sends, a message to another node leaves whether or not its receiver is there, and its
/// sender does not wait for that.
///
/// With an accelerator per rank, that is where tensors live and messages go; control messages, and
/// the watching, remain MPI's.
std::unique_ptr<Runtime> make_mpi_runtime(const MpiOptions& options = {},
                                          AcceleratorFactory make_accelerator = {});

}  // namespace trigram
