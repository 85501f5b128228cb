#include "experiments/tables/plain_table.h"

#include <gmock/gmock.h>

#include "experiments/text/labels.h"

namespace trigram::plain_table_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(Labels, NameOptionsOfComponentsAndTopologies) {
  EXPECT_EQ(describe({{"/workload", {{"name", "fashion_mnist"}, {"batch", 8}}},
                      {"/topology", {{"kind", "torus"}, {"wraps", true}}}}),
            "topology=torus wraps=true, workload=fashion_mnist batch=8");
}

Json with_workload(const Json& workload, double step_s) {
  return {{"experiment", {{"algorithm", {{"name", "a"}}}}},
          {"sweep", {{"/workload", workload}}},
          {"assumed", {"a V100"}},
          {"summary", {{"step_s", step_s}, {"accuracy", nullptr}, {"shortfall", nullptr}}}};
}

TEST(PlainTable, HasARowForEachRun) {
  EXPECT_EQ(plain_table({with_workload({{"name", "bert"}, {"batch", 8}}, 0.0123456),
                         with_workload({{"name", "bert"}, {"batch", 64}}, 0.5),
                         with_workload("vgg", 0.0000011)}),
            "run                     algorithm  times      step (ms)\n"
            "workload=bert batch=8   a          simulated       12.3\n"
            "workload=bert batch=64  a          simulated        500\n"
            "workload=vgg            a          simulated      0.001\n"
            "assumed: a V100\n");
}

TEST(PlainTable, ShowsAccuracyIfSomeRunHasOne) {
  Json learns = with_workload("a", 2), other = with_workload("b", 1);
  learns["summary"]["accuracy"] = 0.8412;
  const std::string text = plain_table({learns, other});
  EXPECT_THAT(text, HasSubstr("step (s)  accuracy (%)\n"));
  EXPECT_THAT(text, HasSubstr("2.00          84.1\n"));
  EXPECT_THAT(text, HasSubstr("1.00             -\n"));
}

TEST(PlainTable, ShowsTheHeldOutLossOfRunsThatAreJudgedByIt) {
  Json run = with_workload("a", 2);
  run["summary"]["eval_loss"] = 0.351;
  EXPECT_THAT(plain_table({run}), HasSubstr("step (s)  held-out loss\n"));
  EXPECT_THAT(plain_table({run}), HasSubstr("2.00          0.351\n"));
  run["summary"]["accuracy"] = 0.8412;
  EXPECT_THAT(plain_table({run}), HasSubstr("step (s)  accuracy (%)\n"));
  run["summary"]["target"] = {{"loss", 0.4}, {"time_s", 3}};
  EXPECT_THAT(plain_table({run}), HasSubstr("step (s)  accuracy (%)  held-out loss\n"));
}

TEST(PlainTable, ListsCautions) {
  Json oversubscribed = with_workload("a", 1), cut = with_workload("b", 1);
  oversubscribed["time_kind"] = "wall";
  oversubscribed["oversubscribed"] = true;
  oversubscribed["warnings"] = {"seen"};
  cut["summary"]["shortfall"] = {{"why", "made 7 of 8 steps"}, {"of", "rates"}};
  const std::string text = plain_table({oversubscribed, cut});
  EXPECT_THAT(text, HasSubstr("wall clock, more ranks than cores"));
  EXPECT_THAT(text, EndsWith("too short to compare: workload=b: it made 7 of 8 steps\n"
                             "warning: seen [workload=a]\n"
                             "assumed: a V100\n"));
}

}  // namespace
}  // namespace trigram::plain_table_test
