#include "tests/support/share.h"

#include <span>

namespace trigram::test {

void allgather_texts(const Context& ctx, std::vector<std::string>& texts) {
  constexpr int kTag = -7;  // tests do not use this tag otherwise
  const std::string& own = texts[static_cast<std::size_t>(ctx.world_rank)];
  const auto to_tensor = [&ctx](const std::string& text) {
    const Tensor x = ctx.device->empty(text.size(), DType::u8);
    ctx.device->upload(x, std::as_bytes(std::span(text)));
    return x;
  };
  for (int peer = 0; peer < ctx.world_size; ++peer)
    ctx.control->post(peer, kTag, static_cast<std::int64_t>(own.size()));
  std::vector<Transfer> batch;
  const Tensor out = to_tensor(own);
  for (int i = 0; i < ctx.world_size; ++i) {
    const auto length = ctx.control->receive(kTag);
    if (length->source == ctx.world_rank) continue;
    std::string& received = texts[static_cast<std::size_t>(length->source)];
    received.resize(static_cast<std::size_t>(length->a));
    batch.push_back({Transfer::send, out, length->source});
    batch.push_back({Transfer::recv, to_tensor(received), length->source});
  }
  ctx.comm->transfer(batch);
  for (const Transfer& t : batch)
    if (t.kind == Transfer::recv)
      ctx.device->download(std::as_writable_bytes(std::span(texts[std::size_t(t.peer)])), t.tensor);
}

}  // namespace trigram::test
