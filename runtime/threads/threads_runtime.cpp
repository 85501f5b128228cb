#include "runtime/threads/threads_runtime.h"

#include "core/check.h"
#include "runtime/threads/world.h"

namespace trigram {
namespace {

class ThreadsRuntime final : public Runtime {
 public:
  ThreadsRuntime(const ThreadsOptions& options, const Cluster& cluster)
      : options_(options), cluster_(cluster) {}
  void launch(const Layout& layout, const Task& rank_main) override {
    const bool sleeps = options_.modelled_compute != ModelledCompute::skipped;
    threads::ThreadsWorld world(layout, options_.watchdog_s, sleeps, cluster_.transport);
    if (options_.shaping == ThreadsOptions::Shaping::cluster) {
      TRIGRAM_CHECK(layout.nodes() == cluster_.layout().nodes(),
                    "a layout of {} ranks is launched on the network of {}", layout.ranks(),
                    cluster_.ranks());
      world.emulate(cluster_, static_cast<double>(options_.bucket_depth));
    }
    world.run(rank_main);
  }

 private:
  ThreadsOptions options_;
  Cluster cluster_;
};

}  // namespace

FieldTable<ThreadsOptions> threads_fields() {
  using Mode = ThreadsOptions::Shaping;
  return FieldTable<ThreadsOptions>{}
      .field("shaping", &ThreadsOptions::shaping,
             one_of<Mode>({{"none", Mode::none}, {"cluster", Mode::cluster}}),
             "none: messages travel as fast as memory allows; cluster: messages take as long as on "
             "the cluster's network")
      .field("bucket_depth", &ThreadsOptions::bucket_depth, byte_size(),
             "Number of bytes of a message that a shaped link sends before it switches to another "
             "message")
      .only_where([](const ThreadsOptions& o) { return o.shaping == Mode::cluster; },
                  "has no effect here; expected \"shaping\": \"cluster\" beside it")
      .field("watchdog", &ThreadsOptions::watchdog_s, quantity(Dimension::duration, true),
             "How long all streams may block without any progress before the run ends as hung")
      .field("modelled_compute", &ThreadsOptions::modelled_compute, modelled_compute_kind(),
             kModelledComputeHelp);
}

std::unique_ptr<Runtime> make_threads_runtime(const ThreadsOptions& options,
                                              const Cluster& cluster) {
  return std::make_unique<ThreadsRuntime>(options, cluster);
}

}  // namespace trigram
