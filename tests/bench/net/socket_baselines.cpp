#include "tests/bench/net/socket_baselines.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

namespace trigram::net {
namespace {

using BenchClock = std::chrono::steady_clock;

void move_all(int socket, std::byte* data, std::size_t bytes, bool sends) {
  while (bytes > 0) {
    const ssize_t moved = sends ? ::send(socket, data, bytes, MSG_NOSIGNAL)
                                : ::recv(socket, data, bytes, MSG_WAITALL);
    if (moved <= 0) throw std::runtime_error("the connection failed");
    data += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
}

/// The pieces of all messages that one of several sockets carries.
class Pieces {
 public:
  Pieces(const Stream& stream, std::size_t sockets)
      : bytes_(stream.bytes),
        piece_(std::max<std::size_t>(64 << 10, (stream.bytes + sockets - 1) / sockets)),
        pieces_(std::max<std::size_t>(1, (stream.bytes + piece_ - 1) / piece_)),
        sockets_(sockets) {}
  /// Calls `move(message, offset, bytes)` for each piece of the socket, in order.
  template <class Move>
  void for_each(const Stream& stream, std::size_t socket, Move move) const {
    for (std::size_t piece = socket; piece < static_cast<std::size_t>(stream.count) * pieces_;
         piece += sockets_) {
      const std::size_t offset = piece % pieces_ * piece_;
      move(static_cast<long>(piece / pieces_), offset, std::min(piece_, bytes_ - offset));
    }
  }

 private:
  std::size_t bytes_, piece_, pieces_, sockets_;
};

/// Runs one thread per socket. `next[k]` is the first message of which socket k has not moved its
/// pieces.
double move_over_threads(const Stream& stream, const std::vector<int>& sockets, bool sends) {
  Buffers buffers(stream.bytes);
  const Pieces pieces(stream, sockets.size());
  std::vector<std::atomic<long>> next(sockets.size());
  const auto complete = [&] {
    long least = stream.count;
    for (const auto& message : next)
      least = std::min(least, message.load(std::memory_order_acquire));
    return least;
  };
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < sockets.size(); ++k)
    threads.emplace_back([&, k] {
      pieces.for_each(stream, k, [&](long message, std::size_t offset, std::size_t bytes) {
        next[k].store(message, std::memory_order_release);
        while (complete() <= message - kWindow) std::this_thread::yield();
        move_all(sockets[k], buffers.of(message) + offset, bytes, sends);
      });
      next[k].store(stream.count, std::memory_order_release);
    });
  while (complete() < stream.warm_up()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  const auto begin = BenchClock::now();
  threads.clear();
  return stream.Bps(BenchClock::now() - begin);
}

}  // namespace

void send_plainly(const Stream& stream, int socket) {
  Buffers buffers(stream.bytes);
  for (long i = 0; i < stream.count; ++i) move_all(socket, buffers.of(i), stream.bytes, true);
}

double receive_plainly(const Stream& stream, int socket) {
  Buffers buffers(stream.bytes);
  auto begin = BenchClock::now();
  for (long i = 0; i < stream.count; ++i) {
    if (i == stream.warm_up()) begin = BenchClock::now();
    move_all(socket, buffers.of(i), stream.bytes, false);
  }
  return stream.Bps(BenchClock::now() - begin);
}

void send_over_threads(const Stream& stream, const std::vector<int>& sockets) {
  move_over_threads(stream, sockets, true);
}

double receive_over_threads(const Stream& stream, const std::vector<int>& sockets) {
  return move_over_threads(stream, sockets, false);
}

}  // namespace trigram::net
