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
float operand_at(std::size_t rank, std::size_t i) {
  return static_cast<float>((31 * i + 17 * rank) % 1021);
}

/// The operands of a benchmark on one rank. The expected results depend on `rank`, on the number of
/// `ranks`, and on the number `n` of elements.
struct Operands {
  Context ctx;
  Tensor x, y;
  std::size_t rank, ranks, n;
  std::size_t begin(std::size_t part) const { return n * part / ranks; }
  bool is_mine(std::size_t i) const { return begin(rank) <= i && i < begin(rank + 1); }
  std::size_t predecessor() const { return (rank + ranks - 1) % ranks; }
};

/// The properties that all benchmarks of an operation share.
struct Rule {
  bool in_y = false;               // the result is in y rather than in x
  bool own_part = false;           // rank r provides only part(r, P)
  double (*factor)(double ranks);  // the bus factor
  /// The expected value of element i; empty if any value is allowed.
  std::optional<float> (*expected)(const Operands& data, std::size_t i);
};

float sum_over_ranks(const Operands& data, std::size_t i) {
  double sum = 0;
  for (std::size_t r = 0; r < data.ranks; ++r) sum += double{operand_at(r, i)};
  return static_cast<float>(sum);
}

double factor_one(double) { return 1; }
double factor_gather(double P) { return (P - 1) / P; }  // also of a scatter
double factor_allreduce(double P) { return 2 * (P - 1) / P; }

using Expected = std::optional<float>;

const Rule kAllreduce{.factor = factor_allreduce,
                      .expected = [](const Operands& data, std::size_t i) {
                        return Expected(sum_over_ranks(data, i));
                      }};
const Rule kReduceScatter{
    .factor = factor_gather, .expected = [](const Operands& data, std::size_t i) {
      return data.is_mine(i) ? Expected(sum_over_ranks(data, i)) : std::nullopt;
    }};
const Rule kAllgather{
    .own_part = true, .factor = factor_gather, .expected = [](const Operands& data, std::size_t i) {
      return Expected(operand_at(i / (data.n / data.ranks), i));
    }};
const Rule kBroadcast{.factor = factor_one, .expected = [](const Operands&, std::size_t i) {
                        return Expected(operand_at(0, i));
                      }};
const Rule kAllToAll{
    .in_y = true, .factor = factor_gather, .expected = [](const Operands& data, std::size_t i) {
      const std::size_t per_rank = data.n / data.ranks;
      return Expected(operand_at(i / per_rank, data.begin(data.rank) + i % per_rank));
    }};
const Rule kSendRecv{
    .in_y = true, .factor = factor_one, .expected = [](const Operands& data, std::size_t i) {
      return Expected(operand_at(data.predecessor(), i));
    }};
const Rule kPingPong{
    .in_y = true, .factor = factor_one, .expected = [](const Operands& data, std::size_t i) {
      return data.rank < 2 ? Expected(operand_at(0, i)) : std::nullopt;
    }};

using CollectiveCall = std::function<void(const Operands&)>;
/// Creates the function that a benchmark calls on its operands.
using MakeCollectiveCall = std::function<CollectiveCall(const Operands&)>;

class CollectiveExercise final : public BenchmarkCase {
 public:
  CollectiveExercise(const Rule& rule, const MakeCollectiveCall& make_run, const Context& ctx,
                     std::size_t n)
      : rule_(rule),
        data_{ctx,
              ctx.device->empty(n),
              rule.in_y ? ctx.device->empty(n) : Tensor{},
              static_cast<std::size_t>(ctx.rank()),
              static_cast<std::size_t>(ctx.size()),
              n},
        run_(make_run(data_)) {}
  void fill() override {
    if (data_.x.is_phantom()) return;
    std::vector<float> x(data_.x.numel());
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = rule_.own_part && !data_.is_mine(i) ? -1 : operand_at(data_.rank, i);
    data_.ctx.device->upload(data_.x, x);
    if (rule_.in_y) data_.ctx.device->fill(data_.y, -1);
  }
  void run() override { run_(data_); }
  std::size_t wrong() const override {
    const auto result = data_.ctx.device->download(rule_.in_y ? data_.y : data_.x);
    std::size_t count = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto expected = rule_.expected(data_, i);
      count += expected && result[i] != *expected;
    }
    return count;
  }
  double bus_factor() const override { return rule_.factor(static_cast<double>(data_.ranks)); }

 private:
  const Rule& rule_;
  Operands data_;
  const CollectiveCall run_;
};

/// An entry whose benchmark has its own state, which `make_run` creates.
BenchEntry stateful_entry(std::string operation, std::string algorithm, const Rule& rule,
                          MakeCollectiveCall make_run) {
  const bool reduces = operation == "allreduce" || operation == "reduce_scatter";
  BenchEntry e{std::move(operation), std::move(algorithm), reduces ? "sum" : "none"};
  e.make = [&rule, make_run = std::move(make_run)](const Context& ctx, std::size_t n) {
    return std::make_unique<CollectiveExercise>(rule, make_run, ctx, n);
  };
  return e;
}

BenchEntry collective_entry(std::string operation, std::string algorithm, const Rule& rule,
                            CollectiveCall run) {
  return stateful_entry(std::move(operation), std::move(algorithm), rule,
                        [run = std::move(run)](const Operands&) { return run; });
}

BenchEntry native(std::string operation, const Rule& rule, Collective::Kind kind) {
  BenchEntry e =
      collective_entry(std::move(operation), "native", rule, [kind](const Operands& data) {
        const bool done = data.ctx.comm->native({.kind = kind, .x = data.x, .y = data.y});
        TRIGRAM_CHECK(done, "the world has refused a native collective of {} f32", data.n);
      });
  e.native = true;
  return e;
}

CollectiveCall in_place(void (*collective)(Context, const Tensor&, Reduce)) {
  return [collective](const Operands& data) { collective(data.ctx, data.x, Reduce::sum); };
}
CollectiveCall in_place(void (*collective)(Context, const Tensor&)) {
  return [collective](const Operands& data) { collective(data.ctx, data.x); };
}

void all_to_all(const Operands& data) {
  std::vector<Tensor> out, in;
  for (std::size_t r = 0; r < data.ranks; ++r) {
    out.push_back(data.x.part(r, data.ranks));
    in.push_back(data.y.part(r, data.ranks));
  }
  direct_alltoall(data.ctx, out, in);
}

void send_recv(const Operands& data) {
  const auto right = (data.rank + 1) % data.ranks;
  send_receive(data.ctx, data.x, static_cast<int>(right), data.y,
               static_cast<int>(data.predecessor()));
}

void ping_pong(const Operands& data) {
  if (data.rank == 0) {
    send(data.ctx, data.x, 1);
    receive(data.ctx, data.y, 1);
  } else if (data.rank == 1) {
    receive(data.ctx, data.y, 0);
    send(data.ctx, data.y, 0);
  }
}

CollectiveCall gloo_ring(const Operands& data) {
  const auto ring = std::make_shared<GlooRing>(data.ctx, data.x);
  return [ring](const Operands& operands) { ring->run(operands.ctx); };
}

/// A name consists of the library's name and the name of its algorithm.
std::vector<BenchEntry> library_entries() {
  std::vector<BenchEntry> all = {
      collective_entry("allreduce", "open_mpi_ring", kAllreduce,
                       [](const Operands& data) { open_mpi_ring_allreduce(data.ctx, data.x); }),
      collective_entry(
          "allreduce", "open_mpi_recursive_doubling", kAllreduce,
          [](const Operands& data) { open_mpi_recursive_doubling_allreduce(data.ctx, data.x); }),
      stateful_entry("allreduce", "gloo_ring", kAllreduce, gloo_ring),
      collective_entry(
          "all_to_all", "open_mpi_linear", kAllToAll,
          [](const Operands& data) { open_mpi_linear_all_to_all(data.ctx, data.x, data.y); }),
      collective_entry("all_to_all", "open_mpi_linear_send", kAllToAll,
                       [](const Operands& data) {
                         open_mpi_linear_all_to_all_without_put(data.ctx, data.x, data.y);
                       }),
  };
  for (BenchEntry& e : all) e.imitates_library = true;
  return all;
}

std::vector<BenchEntry> make_entries() {
  std::vector<BenchEntry> all = {
      collective_entry("allreduce", "ring", kAllreduce, in_place(ring_allreduce)),
      collective_entry("allreduce", "recursive_doubling", kAllreduce,
                       in_place(recursive_doubling_allreduce)),
      collective_entry("allreduce", "rabenseifner", kAllreduce, in_place(rabenseifner_allreduce)),
      collective_entry(
          "allreduce", "double_tree", kAllreduce,
          [](const Operands& data) { double_tree_allreduce(data.ctx, data.x, Reduce::sum); }),
      native("allreduce", kAllreduce, Collective::allreduce),
      collective_entry("reduce_scatter", "ring", kReduceScatter, in_place(ring_reduce_scatter)),
      collective_entry("reduce_scatter", "recursive_halving", kReduceScatter,
                       in_place(recursive_halving_reduce_scatter)),
      native("reduce_scatter", kReduceScatter, Collective::reduce_scatter),
      collective_entry("allgather", "ring", kAllgather,
                       in_place(static_cast<void (*)(Context, const Tensor&)>(ring_allgather))),
      collective_entry("allgather", "recursive_doubling", kAllgather,
                       in_place(recursive_doubling_allgather)),
      native("allgather", kAllgather, Collective::allgather),
      collective_entry("broadcast", "binomial", kBroadcast,
                       [](const Operands& data) { binomial_broadcast(data.ctx, data.x, 0); }),
      collective_entry(
          "broadcast", "pipelined", kBroadcast,
          [](const Operands& data) { pipelined_broadcast(data.ctx, data.x, 0, kSegments); }),
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
