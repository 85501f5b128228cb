#include "tests/support/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/metering/meter.h"
#include "tests/support/in_child.h"

namespace trigram::test {

Cluster round_cluster(int nodes, int workers_per_node) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.workers_per_node = workers_per_node;
  cluster.inter = {1e9, 10e-6};
  cluster.intra = {10e9, 1e-6};
  cluster.accelerator = {"round", 1e12, 100e9, 0};
  return cluster;
}

std::vector<double> simulate(const Cluster& cluster, const std::function<double(Context)>& body,
                             const SimOptions& options) {
  return values_from_child<double>([&] {
    std::vector<double> results(static_cast<std::size_t>(cluster.ranks()), -1);
    make_sim_runtime(options, cluster)->launch(cluster.layout(), [&](const Context& ctx) {
      results[static_cast<std::size_t>(ctx.world_rank)] = body(ctx);
    });
    return results;
  });
}

std::vector<double> simulate_phantoms(const Cluster& cluster,
                                      const std::function<double(Context)>& body,
                                      const SimOptions& options) {
  return simulate(
      cluster,
      [&](const Context& raw) {
        const auto meter = instrument(raw, {.phantom = true, .sink = {}});
        return body(meter->context());
      },
      options);
}

double latest_end_s(const std::vector<double>& ends_s) {
  return ends_s.empty() ? -1 : std::ranges::max(ends_s);
}

std::string failure_of(const Cluster& cluster, const Task& body, const SimOptions& options) {
  return bytes_from_child([&]() -> std::string {
    try {
      make_sim_runtime(options, cluster)->launch(cluster.layout(), body);
    } catch (const HangError& e) {
      return std::string("hang: ") + e.what();
    } catch (const std::exception& e) {
      return e.what();
    }
    ADD_FAILURE() << "the simulation ended without an exception";
    return {};
  });
}

Tensor phantom_bytes(std::size_t nbytes) { return Tensor::phantom(nbytes, DType::u8, nbytes); }

void send_phantom(const Context& ctx, int peer, std::size_t nbytes) {
  ctx.comm->transfer(std::array{Transfer{Transfer::send, phantom_bytes(nbytes), peer}});
}

void receive_phantom(const Context& ctx, int peer, std::size_t nbytes) {
  ctx.comm->transfer(std::array{Transfer{Transfer::recv, phantom_bytes(nbytes), peer}});
}

void message_from_0_to_1(const Context& ctx, std::size_t nbytes, TrafficClass traffic) {
  if (ctx.rank() > 1) return;
  const auto kind = ctx.rank() == 0 ? Transfer::send : Transfer::recv;
  ctx.comm->transfer(std::array{Transfer{kind, phantom_bytes(nbytes), 1 - ctx.rank(), traffic}});
}

double send_to_all(const Context& ctx, std::size_t nbytes) {
  std::vector<Transfer> batch;
  for (int peer = 0; peer < ctx.size(); ++peer) {
    if (peer == ctx.rank()) continue;
    batch.push_back({Transfer::recv, phantom_bytes(nbytes), peer});
    batch.push_back({Transfer::send, phantom_bytes(nbytes), peer});
  }
  ctx.comm->transfer(batch);
  return ctx.stream->now();
}

double time_on_phantom(const Context& raw, std::size_t n,
                       const std::function<void(Context, const Tensor&)>& collective) {
  const auto meter = instrument(raw, {.phantom = true, .sink = {}});
  const Context ctx = meter->context();
  collective(ctx, ctx.device->empty(n));
  return ctx.stream->now();
}

std::string MBps(double Bps) { return std::to_string(Bps / 1e6) + "MB/s"; }

}  // namespace trigram::test
