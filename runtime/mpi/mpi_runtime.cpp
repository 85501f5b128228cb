#include "runtime/mpi/mpi_runtime.h"

#include <fmt/format.h>

#include <cstdlib>
#include <numeric>

#include "core/config/config_error.h"
#include "runtime/mpi/world.h"

namespace trigram {
namespace {

class MpiRuntime final : public Runtime {
 public:
  MpiRuntime(const MpiOptions& options, AcceleratorFactory make_accelerator)
      : options_(options), make_accelerator_(std::move(make_accelerator)) {}
  void launch(const Layout& layout, const Task& rank_main) override {
    mpi::Session& session =
        mpi::Session::get(mpi::RankWatch::longest_silence_s(options_.watchdog_s));
    if (session.size() != layout.ranks())
      throw ConfigError(
          "/cluster", fmt::format("the cluster has {0} workers, but {1} processes were started; "
                                  "start one process per worker: mpirun -n {0} trigram run CONFIG",
                                  layout.ranks(), session.size()));
    const bool sleeps = options_.modelled_compute != ModelledCompute::skipped;
    mpi::MpiWorld(session, layout, sleeps, options_).run(rank_main, make_accelerator_);
  }

 private:
  MpiOptions options_;
  AcceleratorFactory make_accelerator_;
};

}  // namespace

std::string mpi_absent_reason() { return ""; }

std::string mpi_unavailable_reason() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (std::getenv(name)) return "";
  return "this process was not started by an MPI launcher; run: mpirun -n RANKS trigram run CONFIG";
}

void mpi_start(double watchdog_s) {
  mpi::Session::get(mpi::RankWatch::longest_silence_s(watchdog_s));
}

std::vector<std::string> mpi_exchange(const std::string& mine, double watchdog_s) {
  const double timeout_s = mpi::RankWatch::longest_silence_s(watchdog_s);
  const mpi::Session& session = mpi::Session::get(timeout_s);
  const auto processes = static_cast<std::size_t>(session.size());
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(processes), offsets(processes);
  MPI_Request request;
  mpi::check(
      MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, session.base(), &request),
      "MPI_Iallgather");
  mpi::await_or_abort(request, timeout_s);
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  mpi::check(MPI_Iallgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(),
                             offsets.data(), MPI_BYTE, session.base(), &request),
             "MPI_Iallgatherv");
  mpi::await_or_abort(request, timeout_s);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < processes; ++i)
    texts.push_back(all.substr(std::size_t(offsets[i]), std::size_t(lengths[i])));
  return texts;
}

void mpi_abort(const std::string& message, int exit_code) {
  mpi::Session::get(mpi::RankWatch::longest_silence_s(MpiOptions{}.watchdog_s))
      .abort(message, exit_code);
}

std::unique_ptr<Runtime> make_mpi_runtime(const MpiOptions& options,
                                          AcceleratorFactory make_accelerator) {
  return std::make_unique<MpiRuntime>(options, std::move(make_accelerator));
}

}  // namespace trigram
