#include "algorithms/servers/shards.h"

#include "algorithms/collectives/point_to_point.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/primitives/error_feedback.h"

namespace trigram {

Shards::Shards(Context ctx, Run& run, const Servers& servers, std::optional<CodecSpec> codec)
    : servers_(servers),
      codec_(std::move(codec)),
      seed_(run.seed),
      steps_(run.steps),
      weights_(run.workload.weights()),
      change_(ctx.device->empty_like(weights_)),
      state_(run.state),
      updates_(state_.value<long>("updates")),
      seen_(static_cast<std::size_t>(ctx.size()), updates_) {
  Device& device = *ctx.device;
  if (codec_) {
    base_ = device.copy_of(weights_);
    residual_ = state_.zeros_like(ctx, "residual", weights_);
  }
  if (!servers_.include(ctx.rank())) return;
  shard_ = device.copy_of(weights_of(shard_on(ctx.rank())));
  incoming_ = device.empty_like(shard_);
  for (int worker = 0; codec_ && worker < ctx.size(); ++worker)
    sent_.push_back(device.copy_of(shard_));
}

std::size_t Shards::shard_on(int server) const {
  std::size_t shard = 0;
  while (servers_.rank_of(shard) != server) ++shard;
  return shard;
}

void Shards::begin_change(Context ctx) { ctx.device->copy(change_, weights_); }
void Shards::end_change(Context ctx) { ctx.device->axpby(1, weights_, -1, change_); }

void Shards::exchange(Context c, int worker, int server) {
  if (worker == server) {
    const std::size_t own = shard_on(server);
    apply(c, change_of(own));
    c.device->copy(weights_of(own), shard_);
  } else if (c.rank() == server) {
    codec_ ? exchange_coded_as_server(c, worker) : exchange_as_server(c, worker);
  } else {
    codec_ ? exchange_coded_as_worker(c, server) : exchange_as_worker(c, server);
  }
  if (c.rank() != server) return;
  count_update(worker);
  seen_by(worker) = updates_;
}

void Shards::push(Context c, int worker, int server) {
  if (worker == server) {
    apply(c, change_of(shard_on(server)));
  } else {
    c.rank() == server ? take_change(c, worker) : send_change(c, server);
  }
  if (c.rank() == server) count_update(worker);
}

void Shards::pull(Context c, int worker, int server) {
  if (worker == server) {
    c.device->copy(weights_of(shard_on(server)), shard_);
  } else {
    c.rank() == server ? send_weights(c, worker) : take_weights(c, server);
  }
  if (c.rank() == server) seen_by(worker) = updates_;
}

// Both sides add the change to the same weights, so the server can answer before the change has
// arrived.

void Shards::exchange_as_worker(Context c, int server) {
  const std::size_t s = shard_on(server);
  send_receive(c, change_of(s), server, weights_of(s), server, TrafficClass::server);
  c.device->axpby(1, change_of(s), 1, weights_of(s));
}

void Shards::exchange_as_server(Context c, int worker) {
  send_receive(c, shard_, worker, incoming_, worker, TrafficClass::server);
  apply(c, incoming_);
}

void Shards::exchange_coded_as_worker(Context c, int server) {
  const std::size_t s = shard_on(server);
  const Tensor change = change_of(s), base = base_of(s);
  const auto code = codec(c, server, steps_.current());
  const Tensor out = code->empty_wire(*c.device, change), in = code->empty_wire(*c.device, change);
  ErrorFeedback(*c.device, *code, residual_of(s)).encode(out, change);
  send_receive(c, out, server, in, server, TrafficClass::server);
  const Tensor decoded = c.device->empty_like(change);
  for (const Tensor& wire : {in, out}) {  // first the server's update, then this worker's change
    code->decode(decoded, wire);
    c.device->axpby(1, decoded, 1, base);
  }
  c.device->copy(weights_of(s), base);
}

void Shards::exchange_coded_as_server(Context c, int worker) {
  const Tensor& sent = sent_[static_cast<std::size_t>(worker)];
  const auto code = codec(c, c.size() + worker, updates_);
  const Tensor out = code->empty_wire(*c.device, shard_), in = code->empty_wire(*c.device, shard_);
  c.device->copy(incoming_, shard_);
  c.device->axpby(-1, sent, 1, incoming_);
  code->encode(out, incoming_);
  send_receive(c, out, worker, in, worker, TrafficClass::server);
  for (const Tensor& wire : {out, in}) {
    code->decode(incoming_, wire);
    c.device->axpby(1, incoming_, 1, sent);
  }
  apply(c, incoming_);
}

// With a codec, both sides add every decoded message to their copies of the worker's weights,
// except changes that the server does not add to its shard as they are.

void Shards::send_change(Context c, int server) {
  const std::size_t s = shard_on(server);
  const Tensor change = change_of(s);
  if (!codec_) return send(c, change, server, TrafficClass::server);
  const auto code = codec(c, server, steps_.current());
  const Tensor wire = code->empty_wire(*c.device, change);
  ErrorFeedback(*c.device, *code, residual_of(s)).encode(wire, change);
  send(c, wire, server, TrafficClass::server);
  if (!adds_) return;
  code->decode(change, wire);
  c.device->axpby(1, change, 1, base_of(s));
}

void Shards::take_change(Context c, int worker) {
  if (codec_) {
    const auto code = codec(c, c.size() + worker, updates_);
    const Tensor wire = code->empty_wire(*c.device, incoming_);
    receive(c, wire, worker, TrafficClass::server);
    code->decode(incoming_, wire);
    if (adds_) c.device->axpby(1, incoming_, 1, sent_[static_cast<std::size_t>(worker)]);
  } else {
    receive(c, incoming_, worker, TrafficClass::server);
  }
  apply(c, incoming_);
}

void Shards::send_weights(Context c, int worker) {
  if (!codec_) return send(c, shard_, worker, TrafficClass::server);
  const Tensor& sent = sent_[static_cast<std::size_t>(worker)];
  const auto code = codec(c, c.size() + worker, updates_);
  const Tensor wire = code->empty_wire(*c.device, shard_);
  c.device->copy(incoming_, shard_);
  c.device->axpby(-1, sent, 1, incoming_);
  code->encode(wire, incoming_);
  send(c, wire, worker, TrafficClass::server);
  code->decode(incoming_, wire);
  c.device->axpby(1, incoming_, 1, sent);
}

void Shards::take_weights(Context c, int server) {
  const std::size_t s = shard_on(server);
  const Tensor weights = weights_of(s);
  if (!codec_) return receive(c, weights, server, TrafficClass::server);
  const Tensor base = base_of(s), difference = change_of(s);
  const auto code = codec(c, server, steps_.current());
  const Tensor wire = code->empty_wire(*c.device, difference);
  receive(c, wire, server, TrafficClass::server);
  code->decode(difference, wire);
  c.device->axpby(1, difference, 1, base);
  c.device->copy(weights, base);
}

/// `peer` distinguishes the codecs of a rank: as a worker, it has one per server; as a server, one
/// per worker.
std::unique_ptr<Codec> Shards::codec(Context c, int peer, long use) const {
  return c.device->codec(*codec_, codec_key(c, seed_, {peer, use}));
}

void Shards::collect(Context c) {
  std::vector<Transfer> batch;
  for (std::size_t s = 0; s < servers_.count(); ++s) {
    const int server = servers_.rank_of(s);
    if (server != c.rank()) {
      batch.push_back({Transfer::recv, weights_of(s), server, TrafficClass::server});
      continue;
    }
    c.device->copy(weights_of(s), shard_);
    for (int worker = 0; worker < c.size(); ++worker)
      if (worker != server) batch.push_back({Transfer::send, shard_, worker, TrafficClass::server});
  }
  if (!batch.empty()) c.comm->transfer(batch);
}

}  // namespace trigram
