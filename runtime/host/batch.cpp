#include "runtime/host/batch.h"

#include <algorithm>
#include <cstring>

namespace trigram::host {
namespace {

bool overlap(const Tensor& a, const Tensor& b) {
  return a.data() < b.data() + b.nbytes() && b.data() < a.data() + a.nbytes();
}

bool overwritten(const Tensor& sent, std::span<const Transfer> batch) {
  return !sent.is_phantom() && std::any_of(batch.begin(), batch.end(), [&](const Transfer& t) {
    return t.kind == Transfer::recv && !t.tensor.is_phantom() && overlap(sent, t.tensor);
  });
}

Tensor staged_copy(const Tensor& x) {
  std::shared_ptr<std::byte> storage(new std::byte[x.nbytes()], std::default_delete<std::byte[]>());
  std::memcpy(storage.get(), x.data(), x.nbytes());
  return Tensor(std::move(storage), x.numel(), x.dtype(), x.priced_numel());
}

}  // namespace

void halves_of(std::span<const Transfer> batch, std::vector<PostedTransfer>& halves,
               std::vector<Tensor>& staged) {
  halves.clear();
  staged.clear();
  staged.reserve(batch.size());  // keeps the pointers in `halves` valid
  for (const Transfer& t : batch) {
    const Tensor* tensor = &t.tensor;
    if (t.kind == Transfer::send && overwritten(t.tensor, batch))
      tensor = &staged.emplace_back(staged_copy(t.tensor));
    halves.push_back({t.kind, tensor, t.peer, t.traffic});
  }
}

}  // namespace trigram::host
