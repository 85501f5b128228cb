#include "algorithms/servers/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "algorithms/servers/partitions.h"

// Which server handles which partition, and which partitions form a round.

namespace trigram::test::assignment_test {
namespace {

/// Phantoms with these lengths and names, in the order in which backward completes them.
std::vector<Bucket> buckets(const std::vector<std::size_t>& lengths,
                            const std::vector<const char*>& names = {}) {
  std::vector<Bucket> all;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const Tensor x = Tensor::phantom(lengths[b] / 7, DType::f32, lengths[b]);
    all.push_back({static_cast<int>(b), x, x, names.empty() ? "" : names[b]});
  }
  return all;
}

const std::vector<std::size_t> kLengths = {4096, 3, 25088, 1, 511, 512, 513, 64, 9000};

/// Two Python functions, one for the hash and one for the key, gave these values.
TEST(Assignment, HashesKeysAsDecimalDigits) {
  EXPECT_EQ(djb2_server(0, 1'000'000), 177'621u);
  EXPECT_EQ(djb2_server(65'536, 1'000'000'000'000), 210'653'553'582u);
  EXPECT_EQ(djb2_server(31 * 65'536 + 100, 16), 9u);
  EXPECT_EQ(djb2_server(390 * 65'536, 16), 3u);
  // The key has twenty digits, so the hash has overflowed 64 bits several times.
  EXPECT_EQ(djb2_server(18'446'744'073'709'551'615u, 1'000'003), 907876u);
}

TEST(Assignment, NumbersBucketsByTheirNames) {
  // The order is that of Python's sorted(): B < a < a.b < b < b.a
  const auto hashed = [](const std::vector<const char*>& names) {
    std::vector<std::size_t> servers;
    for (const Partition& p :
         assign(buckets({9, 8, 7, 6, 5}, names), 1'000'003, 36, 1, Assignment::djb2))
      servers.push_back(p.server);
    return servers;
  };
  const auto numbered = [](std::initializer_list<std::uint64_t> numbers) {
    std::vector<std::size_t> servers;
    for (const std::uint64_t d : numbers) servers.push_back(djb2_server(d << 16, 1'000'003));
    return servers;
  };
  EXPECT_EQ(hashed({"b", "a.b", "B", "b.a", "a"}), numbered({3, 2, 0, 4, 1}));
  EXPECT_EQ(hashed({}), numbered({4, 3, 2, 1, 0})) << "as the forward pass has them";
}

TEST(Assignment, CutsBucketsIntoFullOrEqualPartitions) {
  for (const std::size_t numel : {1u, 511u, 512u, 513u, 1024u, 25088u}) {
    const std::size_t parts = (numel + 511) / 512;
    const Tensor x = Tensor::phantom(numel / 7, DType::f32, numel);
    const auto full = full_partitions(x, 2048);
    ASSERT_EQ(full.size(), parts);
    ASSERT_EQ(partitions(x, 2048).size(), parts);
    std::size_t real = 0, priced = 0;
    for (const Tensor& part : full) {
      EXPECT_EQ(part.priced_numel(), std::min<std::size_t>(512, numel - priced));
      priced += part.priced_numel();
      real += part.numel();
    }
    EXPECT_EQ(priced, numel);
    EXPECT_EQ(real, numel / 7);
  }
}

TEST(Assignment, RoundRobinTakesServersInTurn) {
  for (const std::size_t servers : {1u, 2u, 5u, 16u}) {
    const auto all = assign(buckets(kLengths), servers, 2048, 0.5, Assignment::round_robin);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].server, i % servers);
      EXPECT_EQ(all[i].round, i / servers);
      EXPECT_EQ(all[i].begin, 0u);
    }
  }
}

/// After each round, every server has transferred its equal share of the rounds so far, up to one
/// partition. The server with the largest load has about one partition in each round.
TEST(Assignment, HashesFormRoundsOfEqualShares) {
  constexpr std::size_t kLongest = 2048;
  for (const std::size_t servers : {1u, 2u, 5u, 16u})
    for (const double early : {0.0, 0.5, 1.0}) {
      const auto all = assign(buckets(kLengths), servers, kLongest, early, Assignment::djb2);
      std::map<std::size_t, std::size_t> load;
      for (const Partition& p : all) load[p.server] += p.grad.priced_nbytes();
      const std::size_t rounds = all.back().round + 1;
      std::size_t fullest = 0, numel = 0;
      for (const auto& [server, nbytes] : load) fullest = std::max(fullest, nbytes);
      EXPECT_LE(rounds, (fullest + kLongest - 1) / kLongest);
      EXPECT_GE(rounds, (fullest + 2 * kLongest - 1) / (2 * kLongest));
      std::map<std::size_t, std::size_t> passed;
      std::map<std::pair<std::size_t, std::size_t>, std::size_t> end;  // by round and server
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Partition& p = all[i];
        const std::size_t last = i == 0 ? 0 : all[i - 1].round;
        EXPECT_TRUE(p.round == last || p.round == last + 1);
        EXPECT_EQ(p.begin, (end[{p.round, p.server}]));
        end[{p.round, p.server}] += p.grad.numel();
        numel += p.grad.priced_numel();
        const double share = static_cast<double>(load[p.server]) / static_cast<double>(rounds);
        const auto before = static_cast<double>(passed[p.server]);
        EXPECT_GE(before, static_cast<double>(p.round) * share - kLongest);
        EXPECT_LE(before, static_cast<double>(p.round + 1) * share + kLongest);
        passed[p.server] += p.grad.priced_nbytes();
      }
      EXPECT_EQ(numel, 39'788u) << "all of the buckets";
    }
}

/// The first partitions are in the order of backward, the others in the order of the next forward
/// pass.
TEST(Assignment, HashesKeepTheOrderOnEachServer) {
  const auto all = assign(buckets(kLengths), 3, 2048, 0.5, Assignment::djb2);
  std::map<std::size_t, std::vector<int>> by_server;
  for (const Partition& p : all) by_server[p.server].push_back(p.bucket);
  for (const auto& [server, order] : by_server) {
    const auto turn = std::is_sorted_until(order.begin(), order.end());
    EXPECT_TRUE(std::is_sorted(turn, order.end(), std::greater<int>())) << server;
    EXPECT_LT(turn, order.end()) << server;
  }
}

}  // namespace
}  // namespace trigram::test::assignment_test
