#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

#include "core/device/host_device.h"
#include "core/runtime.h"
#include "runtime/mpi/bootstrap.h"
#include "runtime/mpi/control_channel.h"
#include "runtime/mpi/ending.h"
#include "runtime/mpi/groups.h"
#include "runtime/mpi/mpi_runtime.h"
#include "runtime/mpi/rank_watch.h"
#include "runtime/mpi/session.h"

namespace trigram::mpi {

/// One launch, as seen from one process. It has the streams of the process, a thread that delivers
/// messages and watches for hangs, and a thread that guards against calls that never return; and it
/// collects the reports of the other processes.
class MpiWorld final : public host::World {
 public:
  MpiWorld(Session& session, const Layout& layout, bool sleeps_compute, const MpiOptions& options);
  ~MpiWorld() override;
  /// Runs `rank_main` on this thread. When all ranks have ended, it returns on all of them or
  /// throws the same error on all of them. If `make_accelerator` is not empty, the streams' tensors
  /// live on the accelerator that it creates.
  void run(const Task& rank_main, const AcceleratorFactory& make_accelerator);

  int rank() const { return session_.rank(); }
  bool padded() const { return padded_; }
  ControlChannel& control_channel() { return control_channel_; }
  /// The time that a message to `peer` waits on this rank before it leaves.
  host::Clock::duration latency_to(int peer) const {
    return layout().same_node(rank(), peer) ? host::Clock::duration::zero() : added_latency_;
  }
  /// True if messages to `peer` leave without waiting for their receives.
  bool eager_to(int peer) const {
    return eager_.latency_s > 0 && !layout().same_node(rank(), peer);
  }
  /// True if a send to `peer` completes only when the message should have arrived.
  bool awaits_arrival_at(int peer) const {
    return eager_to(peer) && transport_.protocol == Transport::Protocol::rendezvous;
  }
  /// True if messages to `peer` are copied, so that their sends complete before they are received.
  bool buffers_to(int peer) const;
  /// True if buffers_to() holds for all pairs of ranks. The result is the same on every rank.
  bool buffers_to_all() const;
  const Transport& transport() const { return transport_; }
  const EagerSends& eager() const { return eager_; }
  host::Clock::duration eager_latency() const { return host::seconds(eager_.latency_s); }
  bool adds_latency() const { return added_latency_ > added_latency_.zero(); }
  /// Sends a message with the latency that messages of streams have.
  void send_with_latency(int dest, const ControlMessage& message);
  Device& device(int) override { return device_; }
  AcceleratorBackend* accelerator() override { return accelerator_.get(); }
  void idle() override { control_channel_.poll(); }
  host::Group& fork(host::Group& parent, std::size_t n, const std::string& name, int rank) override;
  OneWayGroups fork_one_way(host::Group& parent, std::size_t n, const std::string& name,
                            int rank) override;
  void fail(std::exception_ptr error) noexcept override;

 private:
  void deliver(int source, const ControlMessage& message);
  void on_failure(int source, const std::string& error);
  void await(MPI_Request& request, const Wait& why);
  MpiGroup& child(MpiGroup& parent, std::size_t n, const std::string& name,
                  const MpiGroup* receivers);
  void check_fork_names(MpiGroup& parent, const std::string& name);

  void send_to_all_ranks(const ControlMessage& message);
  void await_all_ranks();
  void free_communicators();

  void progress() noexcept;
  void guard() noexcept;
  void report_and_check();
  void check_silence(const host::StreamSnapshot& mine);
  void update_signal_message(const host::StreamSnapshot& mine);
  std::string status(const host::StreamSnapshot& mine);

  void run_main(const Task& rank_main, const AcceleratorFactory& make_accelerator);

  Session& session_;
  const bool padded_;
  const MpiSends sends_;
  const Transport transport_;
  const host::Clock::duration added_latency_;
  const EagerSends eager_;
  HostDevice device_;
  MPI_Comm control_comm_;
  ControlChannel control_channel_;
  MpiBootstrap bootstrap_;

  Groups groups_;

  Ending ending_;
  RankWatch watch_;
  std::mutex accelerator_mutex_;  // held while the accelerator is created or aborted
  std::unique_ptr<AcceleratorBackend> accelerator_;
  /// Number of loop iterations of the thread that delivers messages; shows that it is alive.
  std::atomic<std::uint64_t> iterations_{0};
  /// The last snapshot in the rank's log; used only by the thread that delivers messages.
  host::StreamSnapshot logged_;
};

}  // namespace trigram::mpi
