#include "experiments/run/rank_report.h"

#include "experiments/run/byte_text.h"

namespace trigram {

std::string to_bytes(const RankReport& report) {
  ByteWriter to;
  to.put(report.first);
  to.put_list(report.steps);
  to.put(report.weights.size());
  for (const auto& [step, weights] : report.weights) {
    to.put(step);
    to.put_list(weights);
  }
  to.put(report.result.total);
  to.put(report.result.began_s);
  to.put_list(report.result.weights_hash);
  to.put(report.result.batch);
  to.put(report.result.trains);
  to.put_list(report.timeline);
  return to.take();
}

RankReport report_from_bytes(const std::string& bytes) {
  ByteReader from(bytes);
  RankReport report;
  report.first = from.get<long>();
  report.steps = from.get_list<std::vector<RankStep>>();
  for (auto left = from.get<std::size_t>(); left > 0; --left) {
    const long step = from.get<long>();
    report.weights[step] = from.get_list<std::vector<float>>();
  }
  report.result.total = from.get<Counters>();
  report.result.began_s = from.get<double>();
  report.result.weights_hash = from.get_list<std::string>();
  report.result.batch = from.get<std::size_t>();
  report.result.trains = from.get<bool>();
  report.timeline = from.get_list<std::string>();
  return report;
}

void barrier(const Context& ctx) {
  constexpr int kTag = -1;  // algorithms use tags from 0
  if (ctx.world_rank > 0) {
    ctx.control->post(0, kTag, 0);
    ctx.control->receive(kTag);
    return;
  }
  for (int others = ctx.world_size - 1; others > 0; --others) ctx.control->receive(kTag);
  for (int rank = 1; rank < ctx.world_size; ++rank) ctx.control->post(rank, kTag, 0);
}

std::vector<std::string> gather(const Context& ctx, const std::string& own) {
  constexpr int kTag = -2;  // algorithms use tags from 0
  const auto buffer = [&ctx](std::size_t length) { return ctx.device->empty(length, DType::u8); };
  if (ctx.world_rank != 0) {
    ctx.control->post(0, kTag, static_cast<std::int64_t>(own.size()));
    const Tensor x = buffer(own.size());
    ctx.device->upload(x, std::as_bytes(std::span(own)));
    const Transfer out{Transfer::send, x, 0};
    ctx.comm->transfer({&out, 1});
    return {};
  }
  std::vector<std::string> all(static_cast<std::size_t>(ctx.world_size));
  all[0] = own;
  std::vector<std::size_t> lengths(all.size());
  for (int others = ctx.world_size - 1; others > 0; --others) {
    const auto length = ctx.control->receive(kTag);
    lengths[static_cast<std::size_t>(length->source)] = static_cast<std::size_t>(length->a);
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {  // one rank at a time, to limit memory
    const Transfer in{Transfer::recv, buffer(lengths[rank]), static_cast<int>(rank)};
    ctx.comm->transfer({&in, 1});
    all[rank].resize(lengths[rank]);
    ctx.device->download(std::as_writable_bytes(std::span(all[rank])), in.tensor);
  }
  return all;
}

}  // namespace trigram
