#include <fmt/format.h>
#include <gmock/gmock.h>

#include "experiments/tables/comparison_table.h"
#include "experiments/text/labels.h"

namespace trigram::table_labels_test {
namespace {

using testing::HasSubstr;

TEST(Labels, NameOptionsOfComponentsAndNothingElse) {
  EXPECT_EQ(describe({{"/workload", {{"name", "fashion_mnist"}, {"batch", 8}}},
                      {"/topology", {{"kind", "torus"}, {"wraps", true}}}}),
            "topology=torus wraps=true, workload=fashion_mnist batch=8");
}

Json with_workload(const Json& workload, const char* world, const char* kind, Json said) {
  return {{"experiment",
           {{"algorithm", {{"name", "a"}}},
            {"cluster", {{"nodes", 2}, {"workers_per_node", 1}}},
            {"steps", 10}}},
          {"sweep", {{"/workload", workload}}},
          {"world", world},
          {"time_kind", kind},
          {"assumed", std::move(said)},
          {"summary", {{"step_s", 0.001}, {"messages_inter", 4}}}};
}

TEST(ComparisonTable, TellsRowsApartByWhateverIsSwept) {
  const auto of_batch = [](int batch) {
    return with_workload({{"name", "bert"}, {"batch", batch}}, "sim", "simulated",
                         {fmt::format("batch {}", batch), "a V100"});
  };
  EXPECT_EQ(comparison_table(
                {of_batch(8), of_batch(64), with_workload("vgg", "sim", "simulated", {"a V100"})}),
            "workload       algorithm  step [ms]\n"
            "bert batch=8   a               1.00\n"
            "bert batch=64  a               1.00\n"
            "vgg            a               1.00\n"
            "assumed: batch 8 [workload=bert batch=8]\n"
            "assumed: a V100\n"
            "assumed: batch 64 [workload=bert batch=64]\n");
}

TEST(ComparisonTable, SaysWhichTimesAreSimulated) {
  EXPECT_THAT(comparison_table({with_workload("a", "sim", "simulated", Json::array()),
                                with_workload("b", "threads", "wall", Json::array())}),
              HasSubstr("times are simulated in the world sim, and of this machine's clock in "
                        "threads\n"));
}

}  // namespace
}  // namespace trigram::table_labels_test
