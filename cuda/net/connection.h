#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cuda/net/counters.h"
#include "cuda/net/error.h"
#include "cuda/net/nccl_types.h"
#include "cuda/net/settings.h"
#include "cuda/net/socket.h"

namespace trigram::net {

class Connection;

/// One message in progress. It belongs to its connection, and NCCL holds a pointer to it until it
/// is done.
struct Request {
  Connection* owner = nullptr;  // null: free
  std::byte* data = nullptr;
  // Size of the message. When receiving, this is the size of the buffer until `known`.
  std::size_t bytes = 0;
  std::size_t moved = 0;  // sending: bytes assigned to streams; receiving: bytes arrived
  int open_slices = 0;    // sending: slices that the kernel has not taken completely
  // Sending: the first slice is assigned to a stream. Receiving: the message's size is known.
  bool known = false;

  bool done() const { return known && moved == bytes && open_slices == 0; }
};

/// One direction between two ranks: several TCP connections ("streams") that carry the slices of
/// messages. A connection has no thread. Bytes move in the calls of NCCL, whose proxy thread calls
/// test() in a loop while it waits for a request. So an idle plugin uses no processor time, and a
/// busy plugin needs no hand-over between threads. Calls for the same connection must not overlap;
/// different connections are independent.
class Connection {
 public:
  virtual ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Starts to send or receive a message. Returns null if kMaxRequests messages are in progress.
  /// The memory must live until the request is done.
  Request* start(void* data, std::size_t bytes);
  /// True if the message is sent (the kernel has taken it) or has arrived; `bytes` is then set to
  /// its size, and the request is free. Throws NetError if the connection has failed, for this
  /// request and all later ones.
  bool test(Request& request, std::size_t& bytes);

 protected:
  Connection(std::vector<Descriptor> sockets, std::chrono::seconds timeout, std::uint32_t events,
             Counters& counters, Traffic& traffic);
  /// Sends or receives bytes without blocking. Returns true if at least one byte was moved.
  virtual bool progress() = 0;

  std::size_t streams() const { return sockets_.size(); }
  const Descriptor& socket(std::size_t stream) const { return sockets_[stream]; }
  int fd(std::size_t stream) const { return sockets_[stream].get(); }
  Request& request(std::uint64_t message) { return requests_[message % kMaxRequests]; }
  std::uint64_t posted() const { return posted_; }
  void count_slice() { traffic_.slices.fetch_add(1, std::memory_order_relaxed); }
  /// Asks the kernel, without waiting, which streams have become ready since the last call.
  /// `data.u32` of an event is the index of the stream.
  std::span<const epoll_event> poll();

 private:
  void check_peer();
  [[noreturn]] void fail(const NetError& error);

  std::vector<Descriptor> sockets_;
  Descriptor epoll_;
  std::array<epoll_event, kMaxStreams> events_{};
  std::chrono::seconds timeout_;
  Counters& counters_;
  Traffic& traffic_;
  std::array<Request, kMaxRequests> requests_{};
  std::uint64_t posted_ = 0;         // messages started so far
  std::optional<NetError> failure_;  // why the connection has failed
  int in_progress_ = 0;
  Clock::time_point busy_since_;
  int idle_tests_ = 0;
  Clock::time_point moved_at_;  // when a byte was last known to have moved
};

}  // namespace trigram::net
