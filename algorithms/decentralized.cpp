// Decentralised parallel SGD at full precision (D-PSGD, arXiv 1705.09056; BAGUA, arXiv 2107.01499).
//
//   x_i = sum_j W_ij x_j - lr U(g_i(x_i)): the gradient is taken at the old local weights, so the
//   exchange of weights overlaps the whole iteration.
//
// Modes: `all` averages over all ranks (an allreduce of weights), `shift_one` with one partner per
// step, `ring` with two neighbours. The model travels as one message of S bytes. Bytes per rank and
// iteration: all 2(P-1)/P S in 2(P-1) messages; shift_one S in 1; ring 2 S in 2. Hierarchical by
// default, as in BAGUA: the mean of the node is what the leaders exchange.

#include "algorithms/entries.h"
#include "algorithms/execution/execution.h"
#include "algorithms/options.h"
#include "algorithms/primitives/primitives.h"

namespace trigram {
namespace {

enum class Mode { all, shift_one, ring };

struct Options {
  Execution execution{.hierarchical = true};
  Mode mode = Mode::all;
  AllreduceAlgorithm allreduce = AllreduceAlgorithm::ring;
};

class Decentralized final : public Algorithm {
 public:
  explicit Decentralized(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    const Tensor exchanged = ctx.device->empty_like(run.workload.weights());
    auto comm = ctx.stream->fork("comm");
    const auto mix =
        across(run.execution, [options = options_](Context c, const Tensor& x, Slot slot) {
          switch (options.mode) {
            case Mode::all: return c_fp_s(c, x, options.allreduce);
            case Mode::shift_one:
              return d_fp_s(c, x, shift_one_peers(c.rank(), c.size(), slot.step));
            case Mode::ring: return d_fp_s(c, x, ring_peers(c.rank(), c.size()));
          }
        });
    for ([[maybe_unused]] long t : run.steps) model_step(ctx, run, *comm, exchanged, mix);
  }

 private:
  Options options_;
};

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  const auto exchanging =
      options.execution.hierarchical ? static_cast<int>(layout.nodes().size()) : layout.ranks();
  if (options.mode == Mode::shift_one && exchanging > 1 && exchanging % 2 != 0)
    throw ConfigError(
        pointer + "/mode",
        fmt::format("shift_one pairs {}, so their number must be even, not {}; use ring or all",
                    options.execution.hierarchical ? "nodes (it is hierarchical)" : "workers",
                    exchanging));
}

}  // namespace

AlgorithmEntry decentralized_entry() {
  return algorithm_entry<Decentralized>(
      {.name = "decentralized",
       .doc = "Workers average weights with peers while they compute gradients",
       .trigram = kSyncFullDecentralised,
       .execution_options = "OH",
       .source = "Lian et al., D-PSGD, arXiv 1705.09056; BAGUA, arXiv 2107.01499"},
      FieldTable<Options>{}
          .field("mode", &Options::mode,
                 one_of<Mode>(
                     {{"all", Mode::all}, {"shift_one", Mode::shift_one}, {"ring", Mode::ring}}),
                 "Whom a worker averages with: all, one partner that changes every step, or two "
                 "neighbours")
          .field("allreduce", &Options::allreduce, allreduce_kind(),
                 "Algorithm of the allreduce in mode all"),
      check);
}

}  // namespace trigram
