#include "runtime/mpi/control_channel.h"

#include <array>
#include <cstring>
#include <thread>

#include "runtime/mpi/session.h"

namespace trigram::mpi {
namespace {

constexpr int kControlTag = 0;

/// The numbers of a message, which precede its text on the wire.
using Numbers = std::array<std::int64_t, 5>;

std::string to_bytes(const ControlMessage& m) {
  const Numbers numbers = {m.kind, m.stream, m.tag, m.a, m.b};
  return std::string(reinterpret_cast<const char*>(numbers.data()), sizeof numbers) + m.text;
}

ControlMessage from_bytes(const std::string& bytes) {
  Numbers numbers;
  std::memcpy(numbers.data(), bytes.data(), sizeof numbers);
  const auto [kind, stream, tag, a, b] = numbers;
  const std::string text = bytes.substr(sizeof numbers);
  return {static_cast<ControlMessage::Kind>(kind), stream, tag, a, b, text};
}

}  // namespace

void ControlChannel::send(int dest, const ControlMessage& message) {
  std::lock_guard lock(outgoing_mutex_);  // keeps the order of messages from different threads
  post(dest, message);
}

void ControlChannel::send_after(host::Clock::duration delay, int dest,
                                const ControlMessage& message) {
  std::lock_guard lock(outgoing_mutex_);
  if (delay == delay.zero()) post(dest, message);
  else waiting_.push_back({host::Clock::now() + delay, dest, message});
}

void ControlChannel::send_due() {
  std::lock_guard lock(outgoing_mutex_);
  while (!waiting_.empty() && waiting_.front().due <= host::Clock::now()) {
    post(waiting_.front().dest, waiting_.front().message);
    waiting_.pop_front();
  }
}

/// The caller holds outgoing_mutex_.
void ControlChannel::post(int dest, const ControlMessage& message) {
  forget_sent();
  Outgoing& out = outgoing_.emplace_back();
  out.bytes = to_bytes(message);
  check(MPI_Isend(out.bytes.data(), static_cast<int>(out.bytes.size()), MPI_BYTE, dest, kControlTag,
                  comm_, &out.request),
        "MPI_Isend");
}

bool ControlChannel::poll() {
  send_due();
  std::unique_lock lock(delivery_, std::try_to_lock);
  if (!lock) return false;
  bool any = false;
  for (;;) {
    int found = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kControlTag, comm_, &found, &status), "MPI_Iprobe");
    if (!found) return any;
    int length = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
    std::string bytes(static_cast<std::size_t>(length), '\0');
    MPI_Request request;
    check(
        MPI_Irecv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, kControlTag, comm_, &request),
        "MPI_Irecv");
    for (int done = 0; !done;)  // ends, because MPI_Iprobe has found the message
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    any = true;
    const ControlMessage message = from_bytes(bytes);
    if (message.kind == ControlMessage::last) ++last_messages_;
    else deliver_(status.MPI_SOURCE, message);
  }
}

bool ControlChannel::close(int rank, int ranks, host::Clock::duration timeout) {
  for (int other = 0; other < ranks; ++other)
    if (other != rank) send(other, {.kind = ControlMessage::last});
  const auto deadline = host::Clock::now() + timeout;
  while (last_messages_ < ranks - 1 || !idle()) {
    if (host::Clock::now() > deadline) return false;
    if (!poll()) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

bool ControlChannel::idle() {
  std::lock_guard lock(outgoing_mutex_);
  forget_sent();
  return outgoing_.empty() && waiting_.empty();
}

void ControlChannel::forget_sent() {
  for (auto at = outgoing_.begin(); at != outgoing_.end();) {
    int done = 0;
    check(MPI_Test(&at->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    at = done ? outgoing_.erase(at) : std::next(at);
  }
}

}  // namespace trigram::mpi
