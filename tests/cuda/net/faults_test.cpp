// Peers that die, clients outside the job, and secrets that differ: every call and request ends
// within its deadline.

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cuda/net/listener.h"
#include "tests/cuda/net/two_processes.h"

namespace trigram::net {
namespace {

using Bytes = LoadedPlugin::HandleBytes;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr double kTimeout_s = 3;  // TRIGRAM_NET_TIMEOUT of two_processes.h
constexpr double kSlack_s = 5;    // for a machine that is busy

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

/// A TCP connection to the listener of a handle by a client outside the job.
Descriptor client_at(const Bytes& bytes) {
  Handle handle;
  std::memcpy(&handle, bytes.data(), sizeof handle);
  Descriptor socket(::socket(handle.address.generic.sa_family, SOCK_STREAM, 0));
  EXPECT_EQ(connect(socket.get(), &handle.address.generic, handle.address.size()), 0);
  return socket;
}

std::string text_of_failure(const std::function<void()>& call) {
  testing::internal::CaptureStderr();
  EXPECT_THROW(call(), std::runtime_error);
  return testing::internal::GetCapturedStderr();
}

TEST(NetFaults, AcceptAndConnectEndWithinTheTimeout) {
  in_own_process([] {
    set_environment();
    const LoadedPlugin plugin;
    plugin.init();
    Bytes handle;
    void* listener = plugin.listen(handle);
    for (const bool accepts : {true, false}) {
      const auto begin = steady_clock::now();
      const std::string log =
          text_of_failure([&] { accepts ? plugin.accept(listener) : plugin.connect(handle); });
      EXPECT_NE(log.find("within 3 s"), std::string::npos) << log;
      EXPECT_GT(seconds_since(begin), kTimeout_s - 0.1);
      EXPECT_LT(seconds_since(begin), kTimeout_s + kSlack_s);
    }
    EXPECT_EQ(plugin.v11->close_listen(listener), kSuccess);
  });
}

TEST(NetFaults, ASecretThatDiffersIsOneLineOnBothSides) {
  const Pipe handles, logs;
  // The plugin reads its settings once per process, so each side is a child.
  const auto side = [&](const char* secret, const std::function<void(const LoadedPlugin&)>& body) {
    set_environment(secret, "AF_INET", "1");
    const LoadedPlugin plugin;
    plugin.init();
    std::array<char, 256> line{};
    const std::string log = text_of_failure([&] { body(plugin); });
    log.copy(line.data(), line.size() - 1);
    logs.put(line);
  };
  {
    Child connecting([&] {
      side("mine", [&](const LoadedPlugin& plugin) { plugin.connect(handles.get<Bytes>()); });
    });
    Child accepting([&] {
      side("yours", [&](const LoadedPlugin& plugin) {
        Bytes handle;
        void* listener = plugin.listen(handle);
        handles.put(handle);
        try {
          plugin.accept(listener);
        } catch (...) {
          check(plugin.v11->close_listen(listener), "close_listen");
          throw;
        }
      });
    });
    connecting.wait();
    const std::string first = logs.get<std::array<char, 256>>().data();
    EXPECT_NE(first.find("cannot connect to 127.0.0.1:"), std::string::npos) << first;
    EXPECT_NE(first.find("it refused us: probably its TRIGRAM_NET_SECRET differs from ours\n"),
              std::string::npos)
        << first;
    EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 1) << first;
    accepting.wait();
    const std::string second = logs.get<std::array<char, 256>>().data();
    EXPECT_NE(second.find("its TRIGRAM_NET_SECRET differs from ours\n"), std::string::npos)
        << second;
    EXPECT_NE(second.find("no peer connected within 3 s; refused clients: 1\n"), std::string::npos)
        << second;
  }
}

TEST(NetFaults, ClientsOutsideTheJobDelayNoRank) {
  in_own_process([] {
    set_environment();
    const Pipe handles;
    Child sender([&] {
      const LoadedPlugin plugin;
      plugin.init();
      void* comm = plugin.connect(handles.get<Bytes>());
      const char byte = 'x';
      plugin.wait(plugin.isend(comm, &byte, 1));
      check(plugin.v11->close_send(comm), "close_send");
    });
    const LoadedPlugin plugin;
    plugin.init();
    Bytes handle;
    void* listener = plugin.listen(handle);
    std::vector<Descriptor> clients;
    for (int i = 0; i < 300; ++i) clients.push_back(client_at(handle));
    for (std::size_t i = 0; i < 100; ++i) {  // the other clients send nothing
      const std::string text = i % 2 == 0 ? std::string(100, 'x') : std::string("TRIGNET1");
      EXPECT_GT(send(clients[i].get(), text.data(), text.size(), MSG_NOSIGNAL), 0);
    }
    handles.put(handle);
    const auto begin = steady_clock::now();
    testing::internal::CaptureStderr();
    void* comm = plugin.accept(listener);
    char byte = 0;
    plugin.wait(plugin.irecv(comm, &byte, 1));
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(byte, 'x');
    EXPECT_LT(seconds_since(begin), kTimeout_s);
    EXPECT_NE(log.find("refused 127.0.0.1:"), std::string::npos) << log;
    EXPECT_NE(log.find("it does not speak this plugin's protocol"), std::string::npos) << log;
    EXPECT_EQ(sender.wait(), 0);
    EXPECT_EQ(plugin.v11->close_recv(comm), kSuccess);
    EXPECT_EQ(plugin.v11->close_listen(listener), kSuccess);
  });
}

TEST(NetFaults, AMessageThatIsTooLongFails) {
  in_own_process([] {
    set_environment();
    const Pipe handles;
    Child sender([&] {
      const LoadedPlugin plugin;
      plugin.init();
      void* comm = plugin.connect(handles.get<Bytes>());
      const std::vector<char> data(200);
      plugin.wait(plugin.isend(comm, data.data(), data.size()));
      pause();
    });
    const LoadedPlugin plugin;
    plugin.init();
    Bytes handle;
    void* listener = plugin.listen(handle);
    handles.put(handle);
    void* comm = plugin.accept(listener);
    std::vector<char> into(100);
    const std::string log =
        text_of_failure([&] { plugin.wait(plugin.irecv(comm, into.data(), into.size())); });
    EXPECT_NE(log.find("a message of 200 bytes came for a receive of 100"), std::string::npos)
        << log;
    EXPECT_EQ(plugin.v11->close_recv(comm), kSuccess);
    EXPECT_EQ(plugin.v11->close_listen(listener), kSuccess);
  });
}

/// Keeps 8 requests in progress for ever.
void exchange_until_failure(const LoadedPlugin& plugin, void* comm, bool sends) {
  std::vector<std::vector<char>> buffers(8, std::vector<char>(300'000));
  std::vector<void*> requests(8, nullptr);
  for (std::size_t i = 0;; i = (i + 1) % requests.size()) {
    if (requests[i]) plugin.wait(requests[i]);
    requests[i] = sends ? plugin.isend(comm, buffers[i].data(), buffers[i].size())
                        : plugin.irecv(comm, buffers[i].data(), buffers[i].size());
  }
}

/// The surviving side is this process, and the peer is killed while a client outside the job may
/// connect.
void outlive_peer(const LoadedPlugin& plugin, bool survivor_sends, unsigned seed) {
  std::mt19937 random(seed);
  const Pipe handles, signs;
  Bytes handle;
  void* listener = survivor_sends ? nullptr : plugin.listen(handle);
  Child peer([&] {
    try {
      Bytes own;
      void* own_listener = survivor_sends ? plugin.listen(own) : nullptr;
      if (survivor_sends) signs.put(own);
      void* comm =
          survivor_sends ? plugin.accept(own_listener) : plugin.connect(handles.get<Bytes>());
      exchange_until_failure(plugin, comm, !survivor_sends);
    } catch (const std::exception&) {
    }
    pause();
  });
  if (survivor_sends) {
    handle = signs.get<Bytes>();
  } else {
    handles.put(handle);
  }
  const unsigned kill_after = random() % 60;
  const unsigned client_after = random() % 60;
  std::thread disturbance([&, kill_after, client_after] {
    std::this_thread::sleep_for(milliseconds(std::min(kill_after, client_after)));
    if (client_after < kill_after) {
      Handle target;
      std::memcpy(&target, handle.data(), sizeof target);
      const Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
      static_cast<void>(connect(socket.get(), &target.address.generic, target.address.size()));
      static_cast<void>(send(socket.get(), "garbage", 7, MSG_NOSIGNAL));
      std::this_thread::sleep_for(milliseconds(kill_after - client_after));
    }
    peer.kill();
  });
  const auto begin = steady_clock::now();
  const std::string log = text_of_failure([&] {
    void* comm = survivor_sends ? plugin.connect(handle) : plugin.accept(listener);
    try {
      exchange_until_failure(plugin, comm, survivor_sends);
    } catch (...) {
      check(survivor_sends ? plugin.v11->close_send(comm) : plugin.v11->close_recv(comm), "close");
      throw;
    }
  });
  EXPECT_LT(seconds_since(begin), kTimeout_s + kSlack_s) << "seed " << seed << log;
  EXPECT_NE(log.find("NET/Trigram"), std::string::npos);
  disturbance.join();
  EXPECT_EQ(plugin.v11->close_listen(listener), kSuccess);
}

TEST(NetFaults, RequestsEndWhenThePeerIsKilled) {
  in_own_process([] {
    set_environment();
    const LoadedPlugin plugin;
    plugin.init();
    const char* rounds = std::getenv("TRIGRAM_NET_KILLS");
    for (unsigned seed = 0; seed < (rounds ? std::stoul(rounds) : 16); ++seed)
      outlive_peer(plugin, seed % 2 == 0, seed);
  });
}

}  // namespace
}  // namespace trigram::net
