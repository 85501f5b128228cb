#include <gtest/gtest.h>

#include "tests/oracles/algorithm_volume.h"
#include "tests/support/expect_volume.h"

// Invariant D for methods with long blocks of local steps.

namespace trigram::test::low_communication_volume_test {
namespace {

class LowCommunicationVolume : public VolumeTest {};

/// The differences of both blocks are averaged, those of the last block for nothing.
TEST_P(LowCommunicationVolume, Co2) {
  for (const bool hierarchical : {false, true})
    check(
        {{"name", "co2"}, {"sync_every", 2}, {"hierarchical", hierarchical}},
        [&](const Buckets&) {
          return gradient_allreduce_volume(layout(), {1003}, 2, "ring", hierarchical);
        },
        5);
}

/// 1003 weights are a matrix of 32 x 32, and each average takes its factors.
TEST_P(LowCommunicationVolume, DiLoCoX) {
  for (const char* codec : {"none", "fp16"})
    for (const bool hierarchical : {false, true})
      check(
          {{"name", "dilocox"},
           {"sync_every", 2},
           {"rank", 3},
           {"codec", codec},
           {"hierarchical", hierarchical}},
          [&](const Buckets&) {
            return bucket_volume(
                layout(), {1003}, 2, hierarchical, [&](Traffic& t, const Members& members, auto) {
                  for (const std::uint64_t n : {3 * 32u, 3 * 32u}) {
                    if (codec == std::string("none")) add_allreduce(t, members, n, "ring");
                    else add_compressed_scatter_reduce(t, members, n, code_bytes("fp16"));
                  }
                });
          },
          5);
}

/// Codes of differences go to every rank, or are added up around a ring.
TEST_P(LowCommunicationVolume, CodedDiLoCo) {
  const CodeBytes code = code_bytes("minmax_uint8");
  for (const char* reduction : {"gather", "ring"})
    for (const bool hierarchical : {false, true})
      check(
          {{"name", "diloco"},
           {"sync_every", 2},
           {"codec", "minmax_uint8"},
           {"reduction", reduction},
           {"hierarchical", hierarchical}},
          [&](const Buckets&) {
            return bucket_volume(layout(), {1003}, 2, hierarchical,
                                 [&](Traffic& t, const Members& members, auto n) {
                                   if (reduction == std::string("ring"))
                                     add_code_ring(t, members, n, code);
                                   else add_code_allgather(t, members, n, code);
                                 });
          },
          5);
}

/// A twentieth of 1003 weights, rounded up, in each of 5 steps, and the whole model after every
/// second one.
TEST_P(LowCommunicationVolume, SpartaWithDiLoCo) {
  check(
      {{"name", "sparta"}, {"density", 0.05}, {"sync_every", 2}},
      [&](const Buckets&) {
        Traffic all = gradient_allreduce_volume(layout(), {51}, 5, "ring", false);
        return all += gradient_allreduce_volume(layout(), {1003}, 2, "ring", false);
      },
      5);
}

/// Fragment 0 is sent after steps 2 and 6, fragment 1 after step 4, by all workers. Layers are
/// counted from the model's input, but buckets from its output. Of a layer, the vector and two f32.
TEST_P(LowCommunicationVolume, DecoupledDiLoCo) {
  const auto ranks = static_cast<std::uint64_t>(layout().ranks());
  check(
      {{"name", "decoupled_diloco"}, {"sync_every", 4}, {"quorum", ranks}},
      [&](const Buckets& buckets) {
        Traffic all(layout());
        for (std::size_t i = 0; i < buckets.size(); ++i)
          for (int times = (buckets.size() - 1 - i) % 2 == 1 ? 1 : 2; times > 0; --times) {
            add_allreduce(all, all_ranks(layout()), buckets[i], "ring");
            add_allreduce(all, all_ranks(layout()), 2, "recursive_doubling");
          }
        return all;
      },
      6);
}

INSTANTIATE_TEST_SUITE_P(Layouts, LowCommunicationVolume,
                         ::testing::Values(Nodes{1, 1}, Nodes{2, 1}, Nodes{3, 1}, Nodes{7, 1},
                                           Nodes{1, 4}, Nodes{2, 3}, Nodes{4, 4}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace trigram::test::low_communication_volume_test
