#include "cuda/net/connection.h"

#include <cerrno>

namespace trigram::net {
namespace {

/// Reading the clock takes longer than an idle test, so it is read once in this many idle tests.
constexpr int kTestsPerClock = 1024;
constexpr std::chrono::seconds kCheckInterval{1};

}  // namespace

Connection::Connection(std::vector<Descriptor> sockets, std::chrono::seconds timeout,
                       std::uint32_t events, Counters& counters, Traffic& traffic)
    : sockets_(std::move(sockets)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      timeout_(timeout),
      counters_(counters),
      traffic_(traffic) {
  if (!epoll_) throw system_error("epoll_create1", errno);
  for (std::uint32_t stream = 0; stream < sockets_.size(); ++stream) {
    prepare_stream(sockets_[stream], timeout_);
    epoll_event event{};
    event.events = events | EPOLLRDHUP | EPOLLET;
    event.data.u32 = stream;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd(stream), &event) != 0)
      throw system_error("epoll_ctl", errno);
  }
  counters_.connected.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() = default;

Request* Connection::start(void* data, std::size_t bytes) {
  if (failure_) throw *failure_;
  Request& slot = request(posted_);
  if (slot.owner) return nullptr;
  slot = {.owner = this, .data = static_cast<std::byte*>(data), .bytes = bytes};
  ++posted_;
  if (in_progress_++ == 0) busy_since_ = moved_at_ = Clock::now();
  return &slot;
}

bool Connection::test(Request& request, std::size_t& bytes) {
  if (!request.done()) {
    if (failure_) throw *failure_;
    try {
      if (progress()) idle_tests_ = 0;
      else if (++idle_tests_ % kTestsPerClock == 0) check_peer();
    } catch (const NetError& error) {
      fail(error);
    }
    if (!request.done()) return false;
  }
  bytes = request.bytes;
  request.owner = nullptr;
  traffic_.bytes.fetch_add(bytes, std::memory_order_relaxed);
  traffic_.messages.fetch_add(1, std::memory_order_relaxed);
  if (--in_progress_ == 0)
    traffic_.busy_ns.fetch_add((Clock::now() - busy_since_).count(), std::memory_order_relaxed);
  return true;
}

/// Ends a connection whose peer's machine no longer answers. The kernel reports a peer at once only
/// if the peer itself closes the connection.
void Connection::check_peer() {
  const auto now = Clock::now();
  if (idle_tests_ == kTestsPerClock) moved_at_ = now;
  if (now - moved_at_ < kCheckInterval) return;
  moved_at_ = now;
  for (const Descriptor& socket : sockets_)
    if (peer_is_silent(socket, timeout_))
      throw NetError(kRemoteError,
                     "the peer has not answered for " + std::to_string(timeout_.count()) + " s");
}

void Connection::fail(const NetError& error) {
  failure_ = error;
  counters_.failed.fetch_add(1, std::memory_order_relaxed);
  throw error;
}

std::span<const epoll_event> Connection::poll() {
  const int ready = epoll_wait(epoll_.get(), events_.data(), static_cast<int>(sockets_.size()), 0);
  return {events_.data(), static_cast<std::size_t>(ready > 0 ? ready : 0)};
}

}  // namespace trigram::net
