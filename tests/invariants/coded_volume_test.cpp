#include <gtest/gtest.h>

#include "tests/support/expect_volume.h"

// Invariant D for methods that send codes of changes, or factors, of what workers keep.

namespace trigram::test::coded_volume_test {
namespace {

class CodedVolume : public VolumeTest {};

/// Each of the 7 tensors has 143 or 144 elements and is taken as a matrix of 12 x 12, whose factors
/// have 3 or 6 columns.
TEST_P(CodedVolume, DionAveragesTwoFactorsOfEveryTensor) {
  for (const auto& [fraction, columns] : {std::pair{0.25, 3u}, std::pair{0.5, 6u}})
    check_exchange({{"name", "dion"}, {"rank_fraction", fraction}},
                   [columns = columns](Traffic& t, const Members& members, std::uint64_t n) {
                     for (int factor = 0; factor < 2; ++factor)
                       add_allreduce(t, members, n / 143 * 12 * columns, "ring");
                   });
}

TEST_P(CodedVolume, Ef21SendsCodesOfChangesToAllRanks) {
  const Json topk = {{"name", "topk"}, {"density", 0.1}};
  for (const double momentum : {0.0, 0.5})
    check_exchange({{"name", "ef21"}, {"codec", topk}, {"momentum", momentum}},
                   [&](Traffic& t, const Members& members, auto n) {
                     add_code_allgather(t, members, n, code_bytes(topk));
                   });
}

/// Two coefficients take 7 bytes, and 32 of 4096 elements are sent.
TEST_P(CodedVolume, DeMoSendsCoefficientsToAllRanks) {
  check_exchange({{"name", "demo"}}, [](Traffic& t, const Members& members, auto n) {
    add_code_allgather(t, members, n, [](std::uint64_t numel) {
      return ((numel * 32 + 4095) / 4096 + 1) / 2 * 7;
    });
  });
}

/// For W workers of N nodes, every worker sends codes of parts of 1/W of each bucket inside the
/// node and of 1/(W N) between nodes. On the way back the codes of all parts of 1/(W N) travel
/// around two rings, first between the workers with the same number in all nodes, then inside
/// nodes.
TEST_P(CodedVolume, ZeroPlusPlusSendsCodesInsideAndBetweenNodes) {
  const Json inner = {{"name", "int4"}, {"block", 64}}, outer = "fp8_e5m2", back = "minmax_uint8";
  const CodeBytes q = code_bytes(inner), r = code_bytes(outer), s = code_bytes(back);
  const auto nodes = static_cast<std::size_t>(GetParam().nodes),
             workers = static_cast<std::size_t>(GetParam().workers);
  const auto length = [](std::uint64_t n, std::size_t i, std::size_t of) {
    return n * (i + 1) / of - n * i / of;
  };
  const auto exchange = [&](Traffic& t, const Members& members, std::uint64_t n) {
    if (members.size() == 1) return;
    const auto rank = [&](std::size_t node, std::size_t worker) {
      return members[node * workers + worker];
    };
    for (std::size_t node = 0; node < nodes; ++node)
      for (std::size_t worker = 0; worker < workers; ++worker) {
        const std::uint64_t own = length(n, worker, workers);
        for (std::size_t to = 0; to < workers; ++to)
          if (to != worker)
            t.send(rank(node, worker), rank(node, to), 1, q(length(n, to, workers)));
        for (std::size_t to = 0; to < nodes; ++to)
          if (to != node)
            t.send(rank(node, worker), rank(to, worker), 1, r(length(own, to, nodes)));
        // Around a ring, a rank passes on all codes but that of the next rank.
        for (std::size_t other = 0; nodes > 1 && other < nodes; ++other)
          if (other != (node + 1) % nodes)
            t.send(rank(node, worker), rank((node + 1) % nodes, worker), 1,
                   s(length(own, other, nodes)));
        for (std::size_t other = 0; workers > 1 && other < workers; ++other) {
          if (other == (worker + 1) % workers) continue;
          std::uint64_t bytes = 0;
          for (std::size_t part = 0; part < nodes; ++part)
            bytes += s(length(length(n, other, workers), part, nodes));
          t.send(rank(node, worker), rank(node, (worker + 1) % workers), 1, bytes);
        }
      }
  };
  for (const char* bucket : {"0B", "2kB", "10MiB"})
    check({{"name", "zeropp"},
           {"codec", inner},
           {"inter_codec", outer},
           {"gather_codec", back},
           {"bucket", bucket}},
          [&](const Buckets& buckets) {
            return bucket_volume(layout(), buckets, 3, false, exchange);
          });
}

INSTANTIATE_TEST_SUITE_P(Layouts, CodedVolume,
                         ::testing::Values(Nodes{1, 1}, Nodes{2, 1}, Nodes{3, 1}, Nodes{7, 1},
                                           Nodes{1, 4}, Nodes{2, 3}, Nodes{4, 4}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace trigram::test::coded_volume_test
