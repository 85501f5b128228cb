#include "experiments/run/autotuned_training.h"

#include <gtest/gtest.h>

#include "experiments/config/experiment.h"
#include "experiments/run/run.h"

namespace trigram::autotuned_training_test {
namespace {

Json summary_of(const Json& changes) {
  Json config = {
      {"runtime", "threads"},
      {"cluster", {{"nodes", 4}}},
      {"algorithm", {{"name", "gradient_allreduce"}, {"allreduce", "recursive_doubling"}}},
      {"workload", {{"name", "quadratic"}, {"dimension", 512}, {"tensors", 8}, {"noise", 0.1}}},
      {"optimizer", {{"name", "adam"}, {"lr", 0.01}}},
      {"steps", 40}};
  config.update(changes);
  const Experiment e = experiment_fields("").parse(config, "");
  const auto factory = make_workload_factory(e.workload, "/workload");
  return make_run(e, *factory, {[](const StepRecord&) {}, [](const Json&) {}});
}

Json tuning(std::int64_t evaluations = 4) {
  return {{"every", 3}, {"evaluations", evaluations}, {"smallest", "64B"}, {"largest", "16KiB"}};
}

/// Buckets change when something is exchanged, not what is computed. Recursive doubling adds the
/// gradients of an element in the same order in every bucket.
TEST(AutotunedTraining, LearnsWhatAnotherRunLearns) {
  for (const Json& changes :
       {Json::object(), Json{{"micro_batches", 2}, {"clip_norm", 0.5}},
        Json{{"algorithm", {{"name", "parameter_server"}, {"servers", 2}, {"bucket", "100B"}}}},
        Json{{"algorithm", {{"name", "parameter_server"}, {"priority", "need"}}}},
        Json{{"optimizer", "lamb"}, {"gradient_noise", true}}}) {
    SCOPED_TRACE(changes);
    Json tuned = changes;
    tuned["autotune"] = tuning();
    const Json expected = summary_of(changes), actual = summary_of(tuned);
    EXPECT_EQ(actual["weights_hash"], expected["weights_hash"]);
    EXPECT_EQ(actual["steps"], 40);
    EXPECT_EQ(actual["autotune"]["tried"].size(), 4u);
    EXPECT_EQ(actual["autotune"]["from_step"], 12);
    EXPECT_FALSE(expected.contains("autotune"));
  }
}

TEST(AutotunedTraining, EndsWithTheRun) {
  for (const long steps : {4, 9, 10, 12, 13}) {
    const Json summary = summary_of({{"steps", steps}, {"autotune", tuning()}});
    EXPECT_EQ(summary["steps"], steps);
    EXPECT_EQ(summary["autotune"]["tried"].size(), static_cast<std::size_t>((steps - 1) / 3));
  }
}

/// The run ends at an evaluation in the middle of a trial, or at its end. It makes another step.
TEST(AutotunedTraining, EndsAtATarget) {
  for (const long every : {4, 6}) {
    const Json summary =
        summary_of({{"eval_every", every}, {"target_loss", 1e9}, {"autotune", tuning()}});
    EXPECT_EQ(summary["steps"], every);
    EXPECT_EQ(summary["autotune"]["tried"].size(), static_cast<std::size_t>(every / 3));
  }
}

}  // namespace
}  // namespace trigram::autotuned_training_test
