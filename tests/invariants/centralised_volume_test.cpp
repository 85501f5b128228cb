#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "algorithms/peers/random_workers.h"
#include "tests/oracles/algorithm_volume.h"
#include "tests/support/expect_volume.h"

// Invariant D for methods that average models, moments or rounded gradients.

namespace trigram::test::centralised_volume_test {
namespace {

class CentralisedVolume : public VolumeTest {};

/// The whole model is averaged after steps 2 and 4 of 5.
TEST_P(CentralisedVolume, LocalMethods) {
  for (const char* name : {"local_sgd", "slowmo", "bmuf", "diloco"})
    for (const char* allreduce : {"ring", "rabenseifner"})
      for (const bool hierarchical : {false, true})
        check(
            {{"name", name},
             {"sync_every", 2},
             {"allreduce", allreduce},
             {"hierarchical", hierarchical}},
            [&](const Buckets&) {
              return gradient_allreduce_volume(layout(), {1003}, 2, allreduce, hierarchical);
            },
            5);
}

/// Fragment 0 is sent after steps 2 and 6, fragment 1 after step 4. Layers are counted from the
/// model's input, but buckets from its output. A code goes to every rank, around a ring.
TEST_P(CentralisedVolume, StreamingDiLoCo) {
  const CodeBytes code = code_bytes("fp16");
  const std::map<std::string, std::function<bool(std::size_t layer, std::size_t layers)>> second = {
      {"strided", [](std::size_t layer, std::size_t) { return layer % 2 == 1; }},
      {"sequential", [](std::size_t layer, std::size_t layers) { return 2 * layer >= layers; }}};
  for (const auto& [order, is_second] : second)
    for (const bool coded : {false, true})
      for (const bool hierarchical : {false, true}) {
        const VolumeOfExchange exchange = [&](Traffic& t, const Members& members, auto n) {
          if (coded) add_code_allgather(t, members, n, code);
          else add_allreduce(t, members, n, "ring");
        };
        check(
            {{"name", "streaming_diloco"},
             {"sync_every", 4},
             {"order", order},
             {"codec", coded ? "fp16" : "none"},
             {"hierarchical", hierarchical}},
            [&](const Buckets& buckets) {
              Traffic all(layout());
              for (std::size_t i = 0; i < buckets.size(); ++i) {
                const bool late = is_second(buckets.size() - 1 - i, buckets.size());
                all += bucket_volume(layout(), {buckets[i]}, late ? 1 : 2, hierarchical, exchange);
              }
              return all;
            },
            6);
      }
}

/// The differences of all blocks are averaged, those of the last block for nothing.
TEST_P(CentralisedVolume, EagerDiLoCo) {
  for (const bool hierarchical : {false, true})
    check(
        {{"name", "eager_diloco"}, {"sync_every", 2}, {"hierarchical", hierarchical}},
        [&](const Buckets&) {
          return gradient_allreduce_volume(layout(), {1003}, 2, "ring", hierarchical);
        },
        5);
}

/// 1003 weights are a part of a chunk of 4096: 16 of them, and two f32.
TEST_P(CentralisedVolume, SparseLoCo) {
  check(
      {{"name", "sparseloco"}, {"sync_every", 2}},
      [&](const Buckets&) {
        return bucket_volume(
            layout(), {1003}, 2, false, [](Traffic& t, const Members& members, auto n) {
              add_code_allgather(t, members, n, [](auto) { return 8 + 16 * 14 / 8; });
            });
      },
      5);
}

/// A twentieth of 1003 weights, rounded up, is averaged in each of 3 steps.
TEST_P(CentralisedVolume, Sparta) {
  check({{"name", "sparta"}, {"density", 0.05}}, [&](const Buckets&) {
    return gradient_allreduce_volume(layout(), {51}, 3, "ring", false);
  });
}

/// The whole model is averaged after every second step and at the end of the run: after steps 2, 4
/// and 5 of 5, and after steps 2 and 4 of 4.
TEST_P(CentralisedVolume, ElasticAverages) {
  for (const long steps : {4, 5})
    for (const bool hierarchical : {false, true})
      check(
          {{"name", "easgd"}, {"sync_every", 2}, {"hierarchical", hierarchical}},
          [&](const Buckets&) {
            return gradient_allreduce_volume(layout(), {1003}, (steps + 1) / 2, "ring",
                                             hierarchical);
          },
          steps);
}

/// Models are averaged inside nodes after steps 2 and 4, and over all nodes after step 6. Between
/// nodes, m of them, each node sends 2 (m - 1)/m of the model in six steps.
TEST_P(CentralisedVolume, HierarchicalLocalSgd) {
  for (const bool hierarchical : {false, true})
    check(
        {{"name", "hierarchical_local_sgd"},
         {"node_every", 2},
         {"all_every", 3},
         {"hierarchical", hierarchical}},
        [&](const Buckets&) {
          Traffic both = gradient_allreduce_volume(layout(), {1003}, 1, "ring", hierarchical);
          const Layout all = layout();
          for (int average = 0; average < 2; ++average)
            for (const Members& node : all.nodes()) add_allreduce(both, node, 1003, "ring");
          return both;
        },
        7);
}

/// The gradients of every step are averaged, those of the last steps for nothing.
TEST_P(CentralisedVolume, DelaysDoNotChangeTheVolumeOfAnAllreduce) {
  const auto allreduce = [](Traffic& t, const Members& members, auto n) {
    add_allreduce(t, members, n, "ring");
  };
  for (const int delay : {0, 1, 5})
    check_exchange({{"name", "delayed_allreduce"}, {"delay", delay}}, allreduce);
  for (const int delay : {0, 1})
    check_exchange({{"name", "dedloc"}, {"target_batch", 20}, {"delay", delay}}, allreduce);
}

/// After every second of six steps, three workers at most average the model, and after the last
/// step all workers get it. The workers that need the model get it from the workers of the round in
/// turns.
TEST_P(CentralisedVolume, FederatedAverages) {
  const int P = layout().ranks(), m = std::min(3, P);
  check(
      {{"name", "fedavg"}, {"fraction", static_cast<double>(m) / P}, {"sync_every", 2}},
      [&](const Buckets&) {
        Traffic traffic(layout());
        for (long round = 0; round < 3; ++round) {
          const Members drawn = random_workers(7, round, m, P);
          const Members next = random_workers(7, round + 1, round == 2 ? P : m, P);
          add_allreduce(traffic, drawn, 1003, "ring");
          std::size_t turn = 0;
          for (int rank = 0; rank < P; ++rank) {
            if (std::ranges::count(drawn, rank)) continue;
            const int source = drawn[turn++ % drawn.size()];
            if (std::ranges::count(next, rank)) traffic.send(source, rank, 1, 4 * 1003);
          }
        }
        return traffic;
      },
      6);
}

/// Gradients are averaged in buckets in the first two steps. Then the whole model is averaged after
/// the second and the fourth of the following steps.
TEST_P(CentralisedVolume, PostLocalSgd) {
  for (const bool hierarchical : {false, true})
    check(
        {{"name", "post_local_sgd"},
         {"switch_step", 2},
         {"sync_every", 2},
         {"hierarchical", hierarchical},
         {"bucket", "2kB"}},
        [&](const Buckets& buckets) {
          EXPECT_GT(buckets.size(), 1u);
          Traffic both = gradient_allreduce_volume(layout(), buckets, 2, "ring", hierarchical);
          return both += gradient_allreduce_volume(layout(), {1003}, 2, "ring", hierarchical);
        },
        7);
}

/// Without a hierarchy, every message has half the bytes of an allreduce at full precision.
TEST_P(CentralisedVolume, HalfPrecisionHalvesTheBytesOfAnAllreduce) {
  for (const char* bucket : {"0B", "2kB"}) {
    SCOPED_TRACE(bucket);
    const Trained trained =
        train(training_of({{"name", "half_precision_allreduce"}, {"bucket", bucket}}, GetParam()));
    const Traffic full = gradient_allreduce_volume(layout(), buckets_of(trained), 3, "ring", false);
    for (int rank : all_ranks(layout())) {
      Sent sent = sent_by(trained.counters[static_cast<std::size_t>(rank)]);
      sent.bytes_intra *= 2;
      sent.bytes_inter *= 2;
      EXPECT_EQ(sent, full.sent_by(rank)) << "rank " << rank;
    }
  }
}

/// Gradients are averaged at full precision among all ranks in the first two steps, then moments in
/// eight bits in three steps.
TEST_P(CentralisedVolume, QAdam) {
  for (const bool hierarchical : {false, true})
    check(
        {{"name", "qadam"}, {"warmup_steps", 2}, {"hierarchical", hierarchical}, {"bucket", "2kB"}},
        [&](const Buckets& buckets) {
          Traffic both = gradient_allreduce_volume(layout(), buckets, 2, "ring", false);
          return both += bytegrad_volume(layout(), buckets, 3, hierarchical);
        },
        5);
}

/// The volume is the same for any number of micro-batches, whether or not the ranks agree on a
/// threshold.
TEST_P(CentralisedVolume, DropComputeSendsAnAllreduce) {
  for (const int profiled : {0, 2})
    check_exchange(
        {{"name", "dropcompute"}, {"micro_batches", 2}, {"profile_steps", profiled}},
        [](Traffic& t, const Members& members, auto n) { add_allreduce(t, members, n, "ring"); });
}

/// Every rank's pairs of value and index travel around the ring.
TEST_P(CentralisedVolume, TopKSendsEveryCodeToAllRanks) {
  const Json codec = {{"name", "topk"}, {"density", 0.1}};
  check_exchange({{"name", "topk"}, {"codec", codec}},
                 [&](Traffic& t, const Members& members, auto n) {
                   add_code_allgather(t, members, n, code_bytes(codec));
                 });
}

/// Pairs of value and index for the k largest elements travel up a tree and back down.
TEST_P(CentralisedVolume, GTopKSendsOneCodeAlongEveryEdgeInBothDirections) {
  check_exchange(
      {{"name", "gtopk"}, {"density", 0.1}}, [&](Traffic& t, const Members& members, auto n) {
        add_code_tree(t, members, n, [](std::uint64_t numel) { return 8 * ((numel + 9) / 10); });
      });
}

/// A rank sends a fraction of 1.5/P of the k largest elements to the owner of every region, and the
/// owners send the same number of elements. In the first and the third of three steps, the region
/// boundaries are averaged as well. Messages have their maximum length, whatever they contain.
TEST_P(CentralisedVolume, OkTopKSendsMessagesOfFixedLength) {
  for (const char* bucket : {"0B", "2kB", "10MiB"})
    for (const std::uint64_t tenths : {1u, 10u})
      for (const bool hierarchical : {false, true}) {
        const auto sums = [&](Traffic& t, const Members& members, std::uint64_t n) {
          const std::uint64_t P = members.size(), k = (tenths * n + 9) / 10;
          add_regional_average(t, members, std::min(k, (3 * k + 2 * P - 1) / (2 * P)));
        };
        const auto sums_and_cuts = [&](Traffic& t, const Members& members, std::uint64_t n) {
          sums(t, members, n);
          add_allreduce(t, members, members.size() - 1, "recursive_doubling");
        };
        check({{"name", "oktopk"},
               {"density", 0.1 * static_cast<double>(tenths)},
               {"slack", 1.5},
               {"rebalance_every", 2},
               {"bucket", bucket},
               {"hierarchical", hierarchical}},
              [&](const Buckets& buckets) {
                Traffic both = bucket_volume(layout(), buckets, 1, hierarchical, sums);
                return both += bucket_volume(layout(), buckets, 2, hierarchical, sums_and_cuts);
              });
      }
}

TEST_P(CentralisedVolume, EfSignSgdAndTernGradSendEveryCodeToAllRanks) {
  const Json signs = {{"name", "sign"}, {"scale", "l1_mean"}};
  check_exchange({{"name", "ef_signsgd"}}, [&](Traffic& t, const Members& members, auto n) {
    add_code_allgather(t, members, n, code_bytes(signs));
  });
  const auto two_bits = [](std::uint64_t n) { return n == 0 ? 0 : 4 + (2 * n + 7) / 8; };
  check_exchange({{"name", "terngrad"}}, [&](Traffic& t, const Members& members, auto n) {
    add_code_allgather(t, members, n, two_bits);
  });
}

/// Ranks send a quarter of every bucket, then a 16th, a 64th, and a hundredth.
TEST_P(CentralisedVolume, DgcSendsFewerElementsFromStageToStage) {
  for (const bool hierarchical : {false, true}) {
    const auto expected = [&](const Buckets& buckets) {
      Traffic sum(layout());
      for (const auto& [density, steps] :
           {std::pair{1.0 / 4, 2}, {1.0 / 16, 2}, {1.0 / 64, 2}, {0.01, 4}})
        sum += bucket_volume(
            layout(), buckets, steps, hierarchical,
            [d = density](Traffic& t, const Members& members, std::uint64_t n) {
              add_code_allgather(t, members, n, code_bytes({{"name", "topk"}, {"density", d}}));
            });
      return sum;
    };
    check({{"name", "dgc"},
           {"density", 0.01},
           {"warmup_every", 2},
           {"hierarchical", hierarchical},
           {"bucket", "2kB"}},
          expected, 10);
  }
}

/// Two factors are averaged if they have fewer elements than the bucket. The bucket's matrix is the
/// most nearly square matrix that holds it.
TEST_P(CentralisedVolume, PowerSgdAveragesTwoFactors) {
  for (const char* allreduce : {"ring", "recursive_doubling"})
    for (const std::uint64_t rank : {2u, 4u, 7u})
      check_exchange({{"name", "powersgd"}, {"rank", rank}, {"allreduce", allreduce}},
                     [&](Traffic& t, const Members& members, std::uint64_t n) {
                       std::uint64_t sum = 0;  // sum of rows and columns
                       while (sum / 2 * ((sum + 1) / 2) < n) ++sum;
                       if (rank * sum >= n) return add_allreduce(t, members, n, allreduce);
                       add_allreduce(t, members, rank * (sum / 2), allreduce);
                       add_allreduce(t, members, rank * ((sum + 1) / 2), allreduce);
                     });
}

/// Parts of encoded gradients or moments go to their owners, and encoded means go from the owners
/// to all ranks.
TEST_P(CentralisedVolume, CodedScatterReduce) {
  const auto scatter_reduce = [](const Json& codec, const char* phase2 = "allgather") {
    return [code = code_bytes(codec), phase2](Traffic& t, const Members& members, std::uint64_t n) {
      add_compressed_scatter_reduce(t, members, n, code, phase2);
    };
  };
  check_exchange({{"name", "qsgd"}}, scatter_reduce("qsgd"));
  const Json fine = {{"name", "qsgd"}, {"levels", 20}, {"bucket", 64}};
  check_exchange({{"name", "qsgd"}, {"codec", fine}}, scatter_reduce(fine));
  const Json elias = {{"name", "qsgd"}, {"levels", 7}, {"bucket", 64}, {"coding", "elias"}};
  check_exchange({{"name", "qsgd"}, {"codec", elias}}, scatter_reduce(elias));
  check_exchange({{"name", "bytegrad"}, {"codec", "fp16"}}, scatter_reduce("fp16"));
  check_exchange({{"name", "onebit_adam"}, {"warmup_steps", 0}}, scatter_reduce("sign"));
  check_exchange({{"name", "onebit_sgd"}}, scatter_reduce({{"name", "sign"}, {"scale", "means"}}));
  check_exchange({{"name", "signsgd_majority"}},
                 scatter_reduce({{"name", "sign"}, {"scale", "one"}}));
  check_exchange({{"name", "qadam"}, {"warmup_steps", 0}}, scatter_reduce("minmax_uint8"));
  check_exchange({{"name", "qsgd"}, {"phase2", "direct"}}, scatter_reduce("qsgd", "direct"));
  check_exchange({{"name", "onebit_adam"}, {"warmup_steps", 0}, {"phase2", "direct"}},
                 scatter_reduce("sign", "direct"));
  check_exchange({{"name", "qadam"}, {"warmup_steps", 0}, {"phase2", "direct"}},
                 scatter_reduce("minmax_uint8", "direct"));
  // In segments, whose codes have as many bytes together.
  check_exchange({{"name", "qsgd"},
                  {"codec", "fp16"},
                  {"phase2", "direct"},
                  {"shares", "by_bandwidth"},
                  {"bucket", "0B"}},
                 [](Traffic& t, const Members& members, std::uint64_t n) {
                   for (std::uint64_t s = 0; s < 16; ++s)
                     add_compressed_scatter_reduce(t, members, n * (s + 1) / 16 - n * s / 16,
                                                   code_bytes("fp16"), "direct");
                 });
}

/// In the first and the third of three steps before the freeze, the variance is updated at full
/// precision; in the second, encoded gradients are averaged. Of the four local steps after the
/// freeze, the first and the third end with an encoded average.
TEST_P(CentralisedVolume, ZeroOneAdamUpdatesCodesAndStepsLocally) {
  const auto coded = [](Traffic& t, const Members& members, std::uint64_t n) {
    add_compressed_scatter_reduce(t, members, n, code_bytes("sign"), "allgather");
  };
  for (const bool hierarchical : {false, true})
    check(
        {{"name", "zeroone_adam"},
         {"freeze_step", 3},
         {"variance_doubling", 1},
         {"local_doubling", 1},
         {"max_local_steps", 2},
         {"hierarchical", hierarchical},
         {"bucket", "2kB"}},
        [&](const Buckets& buckets) {
          Traffic both = gradient_allreduce_volume(layout(), buckets, 2, "ring", hierarchical);
          return both += bucket_volume(layout(), buckets, 1 + 2, hierarchical, coded);
        },
        7);
}

INSTANTIATE_TEST_SUITE_P(Layouts, CentralisedVolume,
                         ::testing::Values(Nodes{1, 1}, Nodes{2, 1}, Nodes{3, 1}, Nodes{7, 1},
                                           Nodes{1, 4}, Nodes{2, 3}, Nodes{4, 4}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace trigram::test::centralised_volume_test
