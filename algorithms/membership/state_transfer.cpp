#include "algorithms/membership/state_transfer.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace trigram {
namespace {

/// Lists all tensors and numbers of a state, in the order in which it shows them.
class StateList final : public StateVisitor {
 public:
  void tensor(const std::string&, Tensor& x) override {
    if (x.priced_numel() > 0) tensors.push_back(x);
  }
  void bytes(const std::string&, std::span<std::byte> value) override { numbers.push_back(value); }

  std::size_t bytes_of_numbers() const {
    std::size_t sum = 0;
    for (const auto value : numbers) sum += value.size();
    return sum;
  }

  std::vector<Tensor> tensors;
  std::vector<std::span<std::byte>> numbers;
};

StateList list_state(Run& run, Takes what) {
  StateList list;
  if (what == Takes::everything) {
    Tensor weights = run.workload.weights(), buffers = run.workload.buffers();
    list.tensor("weights", weights);
    list.tensor("buffers", buffers);
    run.optimizer.visit_state(list);
  }
  run.state.visit(list);
  return list;
}

void transfer_all(Context c, const StateList& list, const Tensor& numbers, Transfer::Kind kind,
                  int peer) {
  std::vector<Transfer> batch;
  for (const Tensor& x : list.tensors)
    batch.push_back({kind, x, peer, TrafficClass::point_to_point});
  if (numbers.numel() > 0) batch.push_back({kind, numbers, peer, TrafficClass::point_to_point});
  c.comm->transfer(batch);
}

}  // namespace

void send_state(Context c, Run& run, int to, Takes what) {
  const StateList list = list_state(run, what);
  std::vector<std::byte> values;
  for (const auto value : list.numbers) values.insert(values.end(), value.begin(), value.end());
  const Tensor numbers = c.device->empty(values.size(), DType::u8);
  if (!values.empty()) c.device->upload(numbers, values);
  transfer_all(c, list, numbers, Transfer::send, to);
}

void receive_state(Context c, Run& run, int from, Takes what) {
  const StateList list = list_state(run, what);
  const Tensor numbers = c.device->empty(list.bytes_of_numbers(), DType::u8);
  transfer_all(c, list, numbers, Transfer::recv, from);
  if (numbers.numel() == 0) return;
  const std::vector<std::byte> values = c.device->download<std::byte>(numbers);
  if (values.empty()) return;  // a phantom
  auto next = values.begin();
  for (const auto value : list.numbers) {
    std::copy_n(next, value.size(), value.begin());
    next += static_cast<std::ptrdiff_t>(value.size());
  }
}

void lose_state(Context c, Run& run) {
  const StateList list = list_state(run, Takes::everything);
  for (const Tensor& x : list.tensors)
    if (x.dtype() == DType::f32) c.device->fill(x, std::numeric_limits<float>::quiet_NaN());
  for (const auto value : list.numbers) std::ranges::fill(value, std::byte{0});
}

}  // namespace trigram
