// Two processes exchange messages through the plugin, as two ranks of NCCL do.

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/cuda/net/two_processes.h"

namespace trigram::net {
namespace {

using Bytes = LoadedPlugin::HandleBytes;

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::uint8_t> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::uint8_t>((i * 2654435761u + seed) >> 7);
  return data;
}

const std::vector<std::size_t> kSizes = {
    0, 1, 5000, 64 << 10, (64 << 10) + 1, 128 << 10, 1 << 20, (3 << 20) + 17, 0, 2};

void send_all(const Pipe& handles) {
  const LoadedPlugin plugin;
  plugin.init();
  void* comm = plugin.connect(handles.get<Bytes>());
  std::vector<std::vector<std::uint8_t>> data;
  std::vector<void*> requests;
  for (unsigned i = 0; i < kSizes.size(); ++i) data.push_back(pattern(kSizes[i], i));
  for (const auto& message : data)
    requests.push_back(plugin.isend(comm, message.data(), message.size()));
  for (void* request : requests) plugin.wait(request);
  check(plugin.v11->close_send(comm), "close_send");  // the receiver still reads
  check(plugin.v11->finalize(nullptr), "finalize");
}

/// Receives into buffers that are longer than the messages.
void receive_all(const Pipe& handles) {
  const LoadedPlugin plugin;
  plugin.init();
  Bytes handle;
  void* listener = plugin.listen(handle);
  handles.put(handle);
  void* comm = plugin.accept(listener);
  for (unsigned i = 0; i < kSizes.size(); ++i) {
    std::vector<std::uint8_t> into(kSizes[i] + 100, 0xee);
    if (plugin.wait(plugin.irecv(comm, into.data(), into.size())) != static_cast<int>(kSizes[i]))
      throw std::runtime_error("a message has another size");
    auto expected = pattern(kSizes[i], i);
    expected.resize(kSizes[i] + 100, 0xee);
    if (into != expected) throw std::runtime_error("message " + std::to_string(i) + " differs");
  }
  check(plugin.v11->close_recv(comm), "close_recv");
  check(plugin.v11->close_listen(listener), "close_listen");
}

class Exchange : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Exchange, MessagesArriveInOrderAndWhole) {
  set_environment("secret", GetParam().first, GetParam().second);
  const Pipe handles;
  Child receiver([&] { receive_all(handles); });
  Child sender([&] { send_all(handles); });
  EXPECT_EQ(sender.wait(), 0);
  EXPECT_EQ(receiver.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Families, Exchange,
                         testing::Values(std::pair{"AF_INET", "4"}, std::pair{"AF_INET", "1"},
                                         std::pair{"AF_INET", "64"}, std::pair{"AF_INET6", "4"}));

TEST(NetPlugin, TheReportCountsMessagesAndBytes) {
  set_environment();
  const auto folder =
      std::filesystem::temp_directory_path() / ("trigram-net-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  setenv("TRIGRAM_NET_REPORT", (folder / "{rank}.json").c_str(), 1);
  const Pipe handles;
  Child receiver([&] { setenv("RANK", "0", 1), receive_all(handles); });
  Child sender([&] { setenv("RANK", "1", 1), send_all(handles); });
  EXPECT_EQ(sender.wait(), 0);
  EXPECT_EQ(receiver.wait(), 0);
  unsetenv("TRIGRAM_NET_REPORT");
  std::uint64_t bytes = 0;
  for (const std::size_t size : kSizes) bytes += size;
  for (const auto& [rank, direction] : {std::pair{"0", "received"}, {"1", "sent"}}) {
    const auto report =
        nlohmann::json::parse(std::ifstream(folder / (std::string(rank) + ".json")));
    EXPECT_EQ(report[direction]["messages"], kSizes.size());
    EXPECT_EQ(report[direction]["bytes"], bytes);
    EXPECT_GT(report[direction]["slices"], kSizes.size());
    EXPECT_GT(report[direction]["busy_s"], 0);
    EXPECT_EQ(report["connections"], 1);
    EXPECT_EQ(report["refused"], 0);
  }
  std::filesystem::remove_all(folder);
}

TEST(NetPlugin, Version8IsTheSameImplementation) {
  in_own_process([] {
    set_environment();
    const LoadedPlugin plugin;
    ASSERT_EQ(plugin.v8->init(nullptr), kSuccess);
    int count = 0;
    ASSERT_EQ(plugin.v8->devices(&count), kSuccess);
    EXPECT_EQ(count, 1);
    v8::Properties old;
    v11::Properties now;
    ASSERT_EQ(plugin.v8->get_properties(0, &old), kSuccess);
    ASSERT_EQ(plugin.v11->get_properties(0, &now), kSuccess);
    EXPECT_STREQ(old.name, "lo");
    EXPECT_EQ(old.pci_path, nullptr);
    EXPECT_EQ(old.speed_Mbps, now.speed_Mbps);
    EXPECT_EQ(now.virtual_device.ndevs, 1);
    EXPECT_NE(plugin.v8->get_properties(1, &old), kSuccess);

    Bytes handle{};
    void *listener = nullptr, *sends = nullptr, *receives = nullptr;
    ASSERT_EQ(plugin.v8->listen(0, handle.data(), &listener), kSuccess);
    DeviceHandle* ignored = nullptr;
    while (!sends || !receives) {
      if (!sends) check(plugin.v8->connect(0, handle.data(), &sends, &ignored), "connect");
      if (!receives) check(plugin.v8->accept(listener, &receives, &ignored), "accept");
    }
    std::vector<std::uint8_t> from = pattern(300'000, 1), into(300'000);
    void *sent = nullptr, *received = nullptr, *data = into.data(), *mhandle = nullptr;
    int size = static_cast<int>(into.size()), tag = 0, done = 0;
    ASSERT_EQ(plugin.v8->isend(sends, from.data(), size, 0, nullptr, &sent), kSuccess);
    ASSERT_EQ(plugin.v8->irecv(receives, 1, &data, &size, &tag, &mhandle, &received), kSuccess);
    for (bool is_sent = false; !done;) {
      if (!is_sent) is_sent = plugin.test(sent);
      ASSERT_EQ(plugin.v8->test(received, &done, nullptr), kSuccess);
    }
    EXPECT_EQ(from, into);
    for (int i = 0; i < kMaxRequests; ++i)
      ASSERT_EQ(plugin.v8->irecv(receives, 1, &data, &size, &tag, &mhandle, &received), kSuccess);
    ASSERT_EQ(plugin.v8->irecv(receives, 1, &data, &size, &tag, &mhandle, &received), kSuccess);
    EXPECT_EQ(received, nullptr);  // too many; NCCL asks again later
    EXPECT_EQ(plugin.v8->close_send(sends), kSuccess);
    EXPECT_EQ(plugin.v8->close_recv(receives), kSuccess);
    EXPECT_EQ(plugin.v8->close_listen(listener), kSuccess);
  });
}

}  // namespace
}  // namespace trigram::net
