#include <array>
#include <optional>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/double_tree.h"
#include "algorithms/collectives/point_to_point.h"
#include "core/check.h"
#include "experiments/bench/benchmark_case.h"
#include "experiments/bench/library_collectives.h"

namespace trigram {
namespace {

constexpr int kSegments = 8;  // number of segments of the pipelined broadcast

/// Small integers that differ between ranks and positions. Their sums over up to 16,384 ranks are
/// exact.
float value(std::size_t rank, std::size_t i) {
  return static_cast<float>((31 * i + 17 * rank) % 1021);
}

/// The operands of a benchmark, and the values from which its expected result is computed.
struct Place {
  Context ctx;
  Tensor x, y;
  std::size_t rank, ranks, n;
  std::size_t begin(std::size_t part) const { return n * part / ranks; }
  bool is_mine(std::size_t i) const { return begin(rank) <= i && i < begin(rank + 1); }
  std::size_t left() const { return (rank + ranks - 1) % ranks; }
};

/// The properties that all benchmarks of an operation share.
struct Rule {
  bool in_y = false;      // the result is in y rather than in x
  bool own_part = false;  // rank r provides only part(r, P)
  double (*factor)(double ranks);
  /// The expected value of element i; empty if any value is allowed.
  std::optional<float> (*expected)(const Place& at, std::size_t i);
};

float sum_over_ranks(const Place& at, std::size_t i) {
  double sum = 0;
  for (std::size_t r = 0; r < at.ranks; ++r) sum += double{value(r, i)};
  return static_cast<float>(sum);
}

double once(double) { return 1; }
double all_but_own(double P) { return (P - 1) / P; }
double there_and_back(double P) { return 2 * (P - 1) / P; }

using Expected = std::optional<float>;

const Rule kAllreduce{.factor = there_and_back, .expected = [](const Place& at, std::size_t i) {
                        return Expected(sum_over_ranks(at, i));
                      }};
const Rule kReduceScatter{.factor = all_but_own, .expected = [](const Place& at, std::size_t i) {
                            return at.is_mine(i) ? Expected(sum_over_ranks(at, i)) : std::nullopt;
                          }};
const Rule kAllgather{
    .own_part = true, .factor = all_but_own, .expected = [](const Place& at, std::size_t i) {
      return Expected(value(i / (at.n / at.ranks), i));
    }};
const Rule kBroadcast{
    .factor = once, .expected = [](const Place&, std::size_t i) { return Expected(value(0, i)); }};
const Rule kAllToAll{
    .in_y = true, .factor = all_but_own, .expected = [](const Place& at, std::size_t i) {
      const std::size_t each = at.n / at.ranks;
      return Expected(value(i / each, at.begin(at.rank) + i % each));
    }};
const Rule kSendRecv{.in_y = true, .factor = once, .expected = [](const Place& at, std::size_t i) {
                       return Expected(value(at.left(), i));
                     }};
const Rule kPingPong{.in_y = true, .factor = once, .expected = [](const Place& at, std::size_t i) {
                       return at.rank < 2 ? Expected(value(0, i)) : std::nullopt;
                     }};

using CollectiveCall = std::function<void(const Place&)>;
/// Creates the function that a benchmark calls on its operands.
using MakeCollectiveCall = std::function<CollectiveCall(const Place&)>;

class CollectiveExercise final : public BenchmarkCase {
 public:
  CollectiveExercise(const Rule& rule, const MakeCollectiveCall& make_run, const Context& ctx,
                     std::size_t n)
      : rule_(rule),
        at_{ctx,
            ctx.device->empty(n),
            rule.in_y ? ctx.device->empty(n) : Tensor{},
            static_cast<std::size_t>(ctx.rank()),
            static_cast<std::size_t>(ctx.size()),
            n},
        run_(make_run(at_)) {}
  void fill() override {
    if (at_.x.is_phantom()) return;
    std::vector<float> x(at_.x.numel());
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = rule_.own_part && !at_.is_mine(i) ? -1 : value(at_.rank, i);
    at_.ctx.device->upload(at_.x, x);
    if (rule_.in_y) at_.ctx.device->fill(at_.y, -1);
  }
  void run() override { run_(at_); }
  std::size_t wrong() const override {
    const auto result = at_.ctx.device->download(rule_.in_y ? at_.y : at_.x);
    std::size_t count = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto expected = rule_.expected(at_, i);
      count += expected && result[i] != *expected;
    }
    return count;
  }
  double bus_factor() const override { return rule_.factor(static_cast<double>(at_.ranks)); }

 private:
  const Rule& rule_;
  Place at_;
  const CollectiveCall run_;
};

BenchEntry made_entry(std::string operation, std::string algorithm, const Rule& rule,
                      MakeCollectiveCall make_run) {
  BenchEntry e{std::move(operation), std::move(algorithm), "none"};
  e.make = [&rule, make_run = std::move(make_run)](const Context& ctx, std::size_t n) {
    return std::make_unique<CollectiveExercise>(rule, make_run, ctx, n);
  };
  return e;
}

BenchEntry collective_entry(std::string operation, std::string algorithm, const Rule& rule,
                            CollectiveCall run) {
  return made_entry(std::move(operation), std::move(algorithm), rule,
                    [run = std::move(run)](const Place&) { return run; });
}

BenchEntry reducing(BenchEntry e) {
  e.redop = "sum";
  return e;
}

BenchEntry native(std::string operation, const Rule& rule, Collective::Kind kind) {
  BenchEntry e = collective_entry(std::move(operation), "native", rule, [kind](const Place& at) {
    const bool made = at.ctx.comm->native({.kind = kind, .x = at.x, .y = at.y});
    TRIGRAM_CHECK(made, "the world has refused a native collective of {} f32", at.n);
  });
  e.native = true;
  return e;
}

CollectiveCall in_place(void (*collective)(Context, const Tensor&, Reduce)) {
  return [collective](const Place& at) { collective(at.ctx, at.x, Reduce::sum); };
}
CollectiveCall in_place(void (*collective)(Context, const Tensor&)) {
  return [collective](const Place& at) { collective(at.ctx, at.x); };
}

void all_to_all(const Place& at) {
  std::vector<Tensor> out, in;
  for (std::size_t r = 0; r < at.ranks; ++r) {
    out.push_back(at.x.part(r, at.ranks));
    in.push_back(at.y.part(r, at.ranks));
  }
  direct_alltoall(at.ctx, out, in);
}

void send_recv(const Place& at) {
  const auto right = (at.rank + 1) % at.ranks;
  send_receive(at.ctx, at.x, static_cast<int>(right), at.y, static_cast<int>(at.left()));
}

void ping_pong(const Place& at) {
  if (at.rank == 0) {
    send(at.ctx, at.x, 1);
    receive(at.ctx, at.y, 1);
  } else if (at.rank == 1) {
    receive(at.ctx, at.y, 0);
    send(at.ctx, at.y, 0);
  }
}

CollectiveCall gloo_ring(const Place& at) {
  const auto ring = std::make_shared<GlooRing>(at.ctx, at.x);
  return [ring](const Place& here) { ring->run(here.ctx); };
}

/// A name consists of the library's name and the name of its algorithm.
std::vector<BenchEntry> library_entries() {
  std::vector<BenchEntry> all = {
      collective_entry("allreduce", "open_mpi_ring", kAllreduce,
                       [](const Place& at) { open_mpi_ring_allreduce(at.ctx, at.x); }),
      collective_entry(
          "allreduce", "open_mpi_recursive_doubling", kAllreduce,
          [](const Place& at) { open_mpi_recursive_doubling_allreduce(at.ctx, at.x); }),
      made_entry("allreduce", "gloo_ring", kAllreduce, gloo_ring),
      collective_entry("all_to_all", "open_mpi_linear", kAllToAll,
                       [](const Place& at) { open_mpi_linear_all_to_all(at.ctx, at.x, at.y); }),
      collective_entry(
          "all_to_all", "open_mpi_linear_send", kAllToAll,
          [](const Place& at) { open_mpi_linear_all_to_all_without_put(at.ctx, at.x, at.y); }),
  };
  for (BenchEntry& e : all) {
    e.imitates_library = true;
    if (e.operation == "allreduce") e = reducing(std::move(e));
  }
  return all;
}

std::vector<BenchEntry> make_entries() {
  std::vector<BenchEntry> all = {
      reducing(collective_entry("allreduce", "ring", kAllreduce, in_place(ring_allreduce))),
      reducing(collective_entry("allreduce", "recursive_doubling", kAllreduce,
                                in_place(recursive_doubling_allreduce))),
      reducing(collective_entry("allreduce", "rabenseifner", kAllreduce,
                                in_place(rabenseifner_allreduce))),
      reducing(collective_entry(
          "allreduce", "double_tree", kAllreduce,
          [](const Place& at) { double_tree_allreduce(at.ctx, at.x, Reduce::sum); })),
      reducing(native("allreduce", kAllreduce, Collective::allreduce)),
      reducing(collective_entry("reduce_scatter", "ring", kReduceScatter,
                                in_place(ring_reduce_scatter))),
      reducing(collective_entry("reduce_scatter", "recursive_halving", kReduceScatter,
                                in_place(recursive_halving_reduce_scatter))),
      reducing(native("reduce_scatter", kReduceScatter, Collective::reduce_scatter)),
      collective_entry("allgather", "ring", kAllgather,
                       in_place(static_cast<void (*)(Context, const Tensor&)>(ring_allgather))),
      collective_entry("allgather", "recursive_doubling", kAllgather,
                       in_place(recursive_doubling_allgather)),
      native("allgather", kAllgather, Collective::allgather),
      collective_entry("broadcast", "binomial", kBroadcast,
                       [](const Place& at) { binomial_broadcast(at.ctx, at.x, 0); }),
      collective_entry("broadcast", "pipelined", kBroadcast,
                       [](const Place& at) { pipelined_broadcast(at.ctx, at.x, 0, kSegments); }),
      native("broadcast", kBroadcast, Collective::broadcast),
      collective_entry("all_to_all", "pairwise", kAllToAll, all_to_all),
      native("all_to_all", kAllToAll, Collective::all_to_all),
      collective_entry("sendrecv", "transfer", kSendRecv, send_recv),
      collective_entry("pingpong", "transfer", kPingPong, ping_pong),
  };
  all.back().runs = 2;  // a round trip has two messages
  all.back().least_ranks = 2;
  for (BenchEntry& e : library_entries()) all.push_back(std::move(e));
  return all;
}

}  // namespace

const std::vector<BenchEntry>& collective_benches() {
  static const std::vector<BenchEntry> entries = make_entries();
  return entries;
}

}  // namespace trigram
