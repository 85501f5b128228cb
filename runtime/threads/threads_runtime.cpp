#include "runtime/threads/threads_runtime.h"

#include "runtime/threads/world.h"

namespace trigram {
namespace {

class ThreadsRuntime final : public Runtime {
 public:
  explicit ThreadsRuntime(const ThreadsOptions& options) : options_(options) {}
  void launch(const Layout& layout, const Task& rank_main) override {
    const bool sleeps = options_.modelled_compute != ModelledCompute::skipped;
    threads::ThreadsWorld(layout, options_.watchdog_s, sleeps).run(rank_main);
  }

 private:
  ThreadsOptions options_;
};

}  // namespace

FieldTable<ThreadsOptions> threads_fields() {
  return FieldTable<ThreadsOptions>{}
      .field("watchdog", &ThreadsOptions::watchdog_s, quantity(Dimension::duration, true),
             "How long all streams may block without any progress before the run ends as hung")
      .field("modelled_compute", &ThreadsOptions::modelled_compute, modelled_compute_kind(),
             "Computation known by its length only, as of a profile: slept, or skipped; auto skips "
             "it where the workload computes real gradients");
}

std::unique_ptr<Runtime> make_threads_runtime(const ThreadsOptions& options) {
  return std::make_unique<ThreadsRuntime>(options);
}

}  // namespace trigram
