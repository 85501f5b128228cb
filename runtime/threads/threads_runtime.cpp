#include "runtime/threads/threads_runtime.h"

#include "runtime/threads/world.h"

namespace trigram {
namespace {

class ThreadsRuntime final : public Runtime {
 public:
  explicit ThreadsRuntime(const ThreadsOptions& options) : options_(options) {}
  void launch(const Layout& layout, const Task& rank_main) override {
    threads::World(layout, options_.watchdog_s).run(rank_main);
  }

 private:
  ThreadsOptions options_;
};

}  // namespace

FieldTable<ThreadsOptions> threads_fields() {
  return FieldTable<ThreadsOptions>{}.field(
      "watchdog", &ThreadsOptions::watchdog_s, quantity(Dimension::duration, true),
      "how long all streams may block without any progress before the run ends as hung");
}

std::unique_ptr<Runtime> make_threads_runtime(const ThreadsOptions& options) {
  return std::make_unique<ThreadsRuntime>(options);
}

}  // namespace trigram
