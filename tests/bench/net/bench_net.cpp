// Measures how fast messages pass from one process to another: over the network plugin, or over
// sockets beside it. scripts/net_plugin.py starts both processes.
//
//   bench_net recv TRANSPORT FILE ADDRESS BYTES:COUNT...   prints a line "BYTES RATE", in bytes/s,
//   for each bench_net send TRANSPORT FILE ADDRESS BYTES:COUNT...
//
// TRANSPORT is `plugin`, `plain` (one socket) or `threads=N` (N sockets). The receiver writes where
// to connect into FILE.

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/bench/net/socket_baselines.h"
#include "tests/cuda/net/loaded_plugin.h"

namespace trigram::net {
namespace {

using Bytes = LoadedPlugin::HandleBytes;

template <class Value>
void publish(const std::string& file, const Value& value) {
  std::ofstream(file + ".tmp").write(reinterpret_cast<const char*>(&value), sizeof value);
  std::filesystem::rename(file + ".tmp", file);
}

template <class Value>
Value read_published(const std::string& file) {
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  Value value;
  std::ifstream(file).read(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

int new_socket() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  require(fd >= 0, "socket");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

/// Blocking sockets between the two processes, in the same order on both sides.
std::vector<int> baseline_sockets(bool receives, std::size_t count, const std::string& file,
                                  const char* host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  std::vector<int> sockets;
  if (receives) {
    require(inet_pton(AF_INET, host, &address.sin_addr) == 1, "the address is wrong");
    const int listener = new_socket();
    require(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
    require(listen(listener, 64) == 0, "listen");
    require(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0,
            "getsockname");
    publish(file, address);
    while (sockets.size() < count) sockets.push_back(accept(listener, nullptr, nullptr));
    for (const int fd : sockets) {
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return sockets;
  }
  address = read_published<sockaddr_in>(file);
  while (sockets.size() < count) {
    sockets.push_back(new_socket());
    require(connect(sockets.back(), reinterpret_cast<sockaddr*>(&address), size) == 0, "connect");
  }
  return sockets;
}

/// Keeps kWindow requests in progress. Returns the rate after the warm-up.
double run_plugin(const Stream& stream, const LoadedPlugin& plugin, void* comm, bool receives) {
  Buffers buffers(stream.bytes);
  std::deque<void*> requests;
  auto begin = std::chrono::steady_clock::now();
  for (long posted = 0, done = 0; done < stream.count;) {
    while (posted < stream.count && posted < done + kWindow) {
      std::byte* data = buffers.of(posted++);
      requests.push_back(receives ? plugin.irecv(comm, data, stream.bytes)
                                  : plugin.isend(comm, data, stream.bytes));
    }
    if (!plugin.test(requests.front())) {
      std::this_thread::yield();
      continue;
    }
    requests.pop_front();
    if (++done == stream.warm_up()) begin = std::chrono::steady_clock::now();
  }
  return stream.Bps(std::chrono::steady_clock::now() - begin);
}

void print(bool receives, const Stream& stream, double Bps) {
  if (!receives) return;
  fmt::print("{} {:.6g}\n", stream.bytes, Bps);
  std::fflush(stdout);
}

void run_over_plugin(bool receives, const std::string& file, const std::vector<Stream>& streams) {
  const LoadedPlugin plugin;
  plugin.init();
  void* comm = nullptr;
  if (receives) {
    Bytes handle;
    void* listener = plugin.listen(handle);
    publish(file, handle);
    comm = plugin.accept(listener);
    check(plugin.v11->close_listen(listener), "close_listen");
  } else {
    comm = plugin.connect(read_published<Bytes>(file));
  }
  for (const Stream& stream : streams)
    print(receives, stream, run_plugin(stream, plugin, comm, receives));
  check(receives ? plugin.v11->close_recv(comm) : plugin.v11->close_send(comm), "close");
}

void run(bool receives, const std::string& transport, const std::string& file, const char* host,
         const std::vector<Stream>& streams) {
  if (transport == "plugin") return run_over_plugin(receives, file, streams);
  const bool plain = transport == "plain";
  const std::size_t count = plain ? 1 : std::stoul(transport.substr(transport.find('=') + 1));
  const std::vector<int> sockets = baseline_sockets(receives, count, file, host);
  for (const Stream& stream : streams) {
    if (receives)
      print(true, stream,
            plain ? receive_plainly(stream, sockets[0]) : receive_over_threads(stream, sockets));
    else plain ? send_plainly(stream, sockets[0]) : send_over_threads(stream, sockets);
  }
  for (const int fd : sockets) ::close(fd);
}

}  // namespace
}  // namespace trigram::net

int main(int argc, char** argv) try {
  using trigram::net::Stream;
  if (argc < 6)
    throw std::runtime_error("usage: bench_net send|recv TRANSPORT FILE ADDRESS BYTES:COUNT...");
  std::vector<Stream> streams;
  for (int i = 5; i < argc; ++i) {
    const std::string word = argv[i];
    streams.push_back({std::stoul(word), std::stol(word.substr(word.find(':') + 1))});
  }
  trigram::net::run(std::string(argv[1]) == "recv", argv[2], argv[3], argv[4], streams);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_net: {}\n", error.what());
  return 1;
}
