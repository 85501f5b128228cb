#include "runtime/mpi/world.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <thread>
#include <utility>

#include "core/check.h"
#include "core/logging/rank_log.h"
#include "core/wait_text.h"
#include "runtime/host/signal_message.h"
#include "runtime/host/stream.h"
#include "runtime/host/timeout.h"
#include "runtime/mpi/session.h"
#include "runtime/mpi/wire_error.h"

namespace trigram::mpi {
namespace {

constexpr std::int64_t kMainStream = 1;
constexpr std::int64_t kForksPerStream = 1024;

/// Waits until all processes have arrived, then duplicates the base communicator.
MPI_Comm first_duplicate(Session& session, double watchdog_s) {
  const double timeout_s = RankWatch::longest_silence_s(watchdog_s);
  session.barrier(timeout_s);
  return session.duplicate(timeout_s);
}

}  // namespace

MpiWorld::MpiWorld(Session& session, const Layout& layout, bool sleeps_compute,
                   const MpiOptions& options)
    : World(layout, sleeps_compute),
      session_(session),
      padded_(options.padded),
      sends_(options.sends),
      transport_(options.transport),
      added_latency_(host::seconds(options.added_latency_s)),
      eager_(options.eager),
      control_comm_(first_duplicate(session, options.watchdog_s)),
      control_channel_(
          control_comm_,
          [this](int source, const ControlMessage& message) { deliver(source, message); }),
      bootstrap_(control_channel_, session.rank(), session.size()),
      ending_(session.rank(), layout.ranks()),
      watch_(layout.ranks(), options.watchdog_s) {
  const MPI_Comm comm = session.duplicate(watch_.longest_silence_s());
  groups_.add(*this, "main", kMainStream, comm, comm);
  start_at(common_zero(groups_.main().comm(), watch_.longest_silence_s()));
  rank_log::print("all {} processes have arrived; a world begins", layout.ranks());
}

MpiWorld::~MpiWorld() = default;

/// Creates the accelerator and the main stream, and runs the rank's task on that stream.
void MpiWorld::run_main(const Task& rank_main, const AcceleratorFactory& make_accelerator) {
  if (make_accelerator) {
    auto accelerator = make_accelerator(bootstrap_, waiter());
    std::lock_guard lock(accelerator_mutex_);
    accelerator_ = std::move(accelerator);
  }
  check_not_failed();
  host::HostStream stream(groups_.main(), rank());
  rank_main(stream.context());
  stream.finish();
}

void MpiWorld::run(const Task& rank_main, const AcceleratorFactory& make_accelerator) {
  std::thread deliverer([this] { progress(); }), guardian([this] { guard(); });
  MpiGroup& main = groups_.main();
  host::Endpoint* const outer = std::exchange(host::this_endpoint(), &main.endpoint());
  main.endpoint().set_state(host::Endpoint::State::running);
  try {
    run_main(rank_main, make_accelerator);
  } catch (const host::Aborted&) {
  } catch (...) {
    fail(std::current_exception());
  }
  main.endpoint().set_state(host::Endpoint::State::ended);
  host::this_endpoint() = outer;
  rank_log::print("this rank has {}; waits for the other ranks", failed() ? "failed" : "ended");
  await_all_ranks();
  deliverer.join();
  guardian.join();
  accelerator_.reset();  // no thread is left that could abort it
  signal_message::set(fmt::format("rank {} is between two runs", rank()));
  rank_log::print("the world has {} on all ranks", failed() ? "failed" : "ended");
  const std::exception_ptr error = ending_.first_error();
  if (!failed()) free_communicators();  // messages of a failed world may be in flight
  if (error) std::rethrow_exception(error);
  TRIGRAM_CHECK(!failed(), "a stream was destroyed by an exception that its rank then caught");
}

/// `receivers` is the group that receives the messages of the new group. Null means the new group
/// itself.
MpiGroup& MpiWorld::child(MpiGroup& parent, std::size_t n, const std::string& name,
                          const MpiGroup* receivers) {
  TRIGRAM_CHECK(n + 1 < kForksPerStream, "stream {} forks more than {} streams", parent.name(),
                kForksPerStream - 1);
  check_fork_names(parent, name);
  MPI_Comm comm;
  MPI_Request request;
  check(MPI_Comm_idup(parent.comm(), &comm, &request), "MPI_Comm_idup");
  await(request, {.kind = Wait::fork, .name = name});
  const auto id = parent.id() * kForksPerStream + static_cast<std::int64_t>(n) + 1;
  return groups_.add(*this, name, id, comm, receivers ? receivers->data_comm() : comm);
}

host::Group& MpiWorld::fork(host::Group& parent, std::size_t n, const std::string& name, int) {
  return child(static_cast<MpiGroup&>(parent), n, name, nullptr);
}

host::World::OneWayGroups MpiWorld::fork_one_way(host::Group& parent, std::size_t n,
                                                 const std::string& name, int) {
  auto& from = static_cast<MpiGroup&>(parent);
  MpiGroup& in = child(from, n, name + " in", nullptr);
  return {child(from, n + 1, name + " out", &in), in};
}

void MpiWorld::check_fork_names(MpiGroup& parent, const std::string& name) {
  using Name = std::array<char, 64>;
  // This is on the heap, because MPI may write to it after an abort.
  const auto names = std::make_shared<std::vector<Name>>(std::size_t(layout().ranks()) + 1);
  Name& mine = names->back();
  std::strncpy(mine.data(), name.c_str(), mine.size() - 1);
  MPI_Request request;
  check(MPI_Iallgather(mine.data(), sizeof(Name), MPI_BYTE, names->data(), sizeof(Name), MPI_BYTE,
                       parent.comm(), &request),
        "MPI_Iallgather");
  try {
    await(request, {.kind = Wait::fork, .name = name});
  } catch (...) {
    static_cast<void>(new auto(names));
    throw;
  }
  // All names are checked, so that all ranks throw the same error.
  for (int other = 0; other < layout().ranks(); ++other)
    check_fork_name(other, (*names)[static_cast<std::size_t>(other)].data(), names->front().data());
}

/// Called on a stream's thread.
void MpiWorld::await(MPI_Request& request, const Wait& why) {
  waiter().await(why, [&request] {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
}

void MpiWorld::fail(std::exception_ptr error) noexcept {
  const std::string bytes = error_to_bytes(error);
  const bool is_new = ending_.fail(error);
  on_failure(rank(), bytes);
  try {
    if (is_new) send_to_all_ranks({.kind = ControlMessage::failed, .text = bytes});
  } catch (const MpiError&) {  // the other ranks will notice that this rank is silent
  }
}

void MpiWorld::on_failure(int source, const std::string& error) {
  ending_.record_failure(source, error);
  {
    std::lock_guard lock(accelerator_mutex_);
    if (accelerator_) accelerator_->abort();
  }
  set_failed();
  groups_.wake_waiters();
}

void MpiWorld::send_to_all_ranks(const ControlMessage& message) {
  for (int other = 0; other < layout().ranks(); ++other)
    if (other != rank()) control_channel_.send(other, message);
}

void MpiWorld::send_with_latency(int dest, const ControlMessage& message) {
  control_channel_.send_after(latency_to(dest), dest, message);
}

void MpiWorld::deliver(int source, const ControlMessage& message) {
  switch (message.kind) {
    case ControlMessage::control: return groups_.deliver(source, message);
    case ControlMessage::failed: return on_failure(source, message.text);
    case ControlMessage::ended: return ending_.record_end(source, message);
    case ControlMessage::put: return bootstrap_.store(message.text);
    case ControlMessage::status: return watch_.record(source, snapshot_from(message));
    case ControlMessage::last: return;
  }
}

/// No rank leaves before it knows that all ranks have ended, so a late failure fails all ranks.
void MpiWorld::await_all_ranks() {
  const ControlMessage ended = ending_.end_message(failed());
  // These messages leave after all messages that this rank has posted.
  for (int other = 0; other < layout().ranks(); ++other)
    if (other != rank()) send_with_latency(other, ended);
  ending_.record_end(rank(), ended);
  // As long as the world has not failed, the other ranks may take any time: the watchdog detects a
  // hang.
  host::Timeout timeout(watch_.longest_silence_s());
  while (!ending_.wait_until_all_known(Ending::Seconds(0.5))) {
    if (!failed()) timeout.restart();
    else if (timeout.is_over())
      session_.abort(fmt::format("the world has failed, and these ranks do not end: {}",
                                 fmt::join(ending_.missing(), " ")),
                     1);
  }
  while (!control_channel_.idle()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  ending_.stop();
}

/// Frees the communicators if all ranks agree that the world has succeeded. Otherwise messages may
/// be in flight, and the communicators are leaked.
void MpiWorld::free_communicators() {
  const auto timeout = host::seconds(watch_.longest_silence_s());
  if (!control_channel_.close(rank(), layout().ranks(), timeout)) return;
  groups_.free();
  check(MPI_Comm_free(&control_comm_), "MPI_Comm_free");
}

}  // namespace trigram::mpi
