// Many messages of random sizes over 16 connections between two processes, in both directions. Each
// message carries a checksum of its bytes (CRC-32 by zlib), its connection and its number.

#include <zlib.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "tests/cuda/net/two_processes.h"

namespace trigram::net {
namespace {

using Bytes = LoadedPlugin::HandleBytes;

constexpr int kConnections = 16;
constexpr std::size_t kInProgress = 8;

struct Trailer {
  std::uint32_t crc, connection;
  std::uint64_t message;
};

long messages_in_all() {
  const char* text = std::getenv("TRIGRAM_NET_MESSAGES");
  return text ? std::stol(text) : 20'000;
}

/// The sizes of a connection's messages, the same at both ends: log-uniform up to 16 KiB; one in
/// 100 up to 2 MiB.
class Sizes {
 public:
  explicit Sizes(int connection) : random_(static_cast<unsigned>(connection)) {}
  std::size_t next() {
    const double most = random_() % 100 == 0 ? 21 : 14;
    return static_cast<std::size_t>(
               std::exp2(most * static_cast<double>(random_()) / 4294967296.0)) -
           1 + sizeof(Trailer);
  }

 private:
  std::mt19937 random_;
};

std::uint32_t crc_of(const unsigned char* data, std::size_t bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, data, bytes));
}

/// One end of a connection.
class End {
 public:
  End(const LoadedPlugin& plugin, void* comm, int connection, bool sends)
      : plugin_(plugin), comm_(comm), connection_(connection), sends_(sends), sizes_(connection) {}
  End(End&&) = default;

  /// Moves as far as possible without waiting. Returns true if all messages are done.
  bool advance(long messages) {
    while (posted_ < messages && places_.size() < kInProgress) post();
    while (!places_.empty()) {
      int bytes = 0;
      if (!plugin_.test(places_.front().request, &bytes)) return false;
      if (!sends_) verify(places_.front(), static_cast<std::size_t>(bytes));
      places_.pop_front();
      ++done_;
      if (posted_ < messages) post();
    }
    return true;
  }
  void close() const {
    check(sends_ ? plugin_.v11->close_send(comm_) : plugin_.v11->close_recv(comm_), "close");
  }

 private:
  struct Place {
    std::vector<unsigned char> data;
    std::size_t bytes;
    void* request;
  };

  void post() {
    const std::size_t bytes = sizes_.next();
    places_.push_back({std::vector<unsigned char>(bytes + (sends_ ? 0 : 64)), bytes, nullptr});
    Place& place = places_.back();
    if (sends_) {
      for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
        const auto word =
            static_cast<std::uint32_t>((i + static_cast<std::size_t>(posted_)) * 2654435761u);
        std::memcpy(place.data.data() + i, &word, 4);
      }
      const std::size_t body = bytes - sizeof(Trailer);
      const Trailer trailer{crc_of(place.data.data(), body),
                            static_cast<std::uint32_t>(connection_),
                            static_cast<std::uint64_t>(posted_)};
      std::memcpy(place.data.data() + body, &trailer, sizeof trailer);
    }
    ++posted_;
    place.request = sends_ ? plugin_.isend(comm_, place.data.data(), bytes)
                           : plugin_.irecv(comm_, place.data.data(), place.data.size());
  }

  void verify(const Place& place, std::size_t bytes) const {
    if (bytes != place.bytes) throw std::runtime_error("a message has another size");
    Trailer trailer;
    const std::size_t body = bytes - sizeof trailer;
    std::memcpy(&trailer, place.data.data() + body, sizeof trailer);
    if (trailer.connection != static_cast<std::uint32_t>(connection_) ||
        trailer.message != static_cast<std::uint64_t>(done_))
      throw std::runtime_error("a message is out of order");
    if (trailer.crc != crc_of(place.data.data(), body))
      throw std::runtime_error("a checksum is wrong");
  }

  const LoadedPlugin& plugin_;
  void* comm_;
  int connection_;
  bool sends_;
  Sizes sizes_;
  long posted_ = 0, done_ = 0;
  std::deque<Place> places_;  // a deque moves no element when others come and go
};

/// Even connections send from the first process to the second, odd ones back.
void run_side(int side, const Pipe& to_other, const Pipe& from_other) {
  const LoadedPlugin plugin;
  plugin.init();
  std::vector<void*> listeners;
  std::vector<void*> comms(kConnections, nullptr);
  std::vector<Bytes> handles(kConnections);
  const auto sends = [&](int connection) { return connection % 2 == side; };
  for (int i = 0; i < kConnections; ++i)
    if (!sends(i)) {
      listeners.push_back(plugin.listen(handles[static_cast<std::size_t>(i)]));
      to_other.put(handles[static_cast<std::size_t>(i)]);
    }
  for (int i = 0; i < kConnections; ++i)
    if (sends(i)) handles[static_cast<std::size_t>(i)] = from_other.get<Bytes>();
  std::vector<End> ends;
  for (int i = 0; i < kConnections; ++i) {
    Bytes& handle = handles[static_cast<std::size_t>(i)];
    void* comm = sends(i) ? plugin.connect(handle)
                          : plugin.accept(listeners[static_cast<std::size_t>(i / 2)]);
    ends.emplace_back(plugin, comm, i, sends(i));
  }
  const long each = messages_in_all() / kConnections;
  for (bool all = false; !all; std::this_thread::yield()) {
    all = true;
    for (End& end : ends) all = end.advance(each) && all;
  }
  for (const End& end : ends) end.close();
  for (void* listener : listeners) check(plugin.v11->close_listen(listener), "close_listen");
}

TEST(NetSoak, NoByteIsLost) {
  set_environment();
  const Pipe there, back;
  Child first([&] { run_side(0, there, back); });
  Child second([&] { run_side(1, back, there); });
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
}

}  // namespace
}  // namespace trigram::net
