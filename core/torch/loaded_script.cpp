#include "core/torch/loaded_script.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <sstream>

namespace trigram {
namespace {

[[noreturn]] void refuse(bool in_data, const std::string& what) {
  throw TorchFileError{in_data, what};
}

std::string content_of(const std::filesystem::path& path, bool in_data) {
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file) refuse(in_data, "cannot be read");
  return content;
}

/// Inputs and targets: the items of a pair, or the values of a dictionary under these names.
std::pair<at::Tensor, at::Tensor> pair_of(const c10::IValue& value) {
  constexpr const char* kExpected =
      "expected a pair (inputs, targets) or a dictionary with \"inputs\" and \"targets\", both "
      "tensors, written by "
      "torch.save";
  c10::IValue inputs, targets;
  if (value.isTuple() && value.toTupleRef().elements().size() == 2) {
    inputs = value.toTupleRef().elements()[0];
    targets = value.toTupleRef().elements()[1];
  } else if (value.isGenericDict()) {
    const auto dictionary = value.toGenericDict();
    for (const auto& item : dictionary)
      if (item.key().isString() && item.key().toStringRef() == "inputs") inputs = item.value();
      else if (item.key().isString() && item.key().toStringRef() == "targets")
        targets = item.value();
  } else if (value.isList() && value.toListRef().size() == 2) {
    inputs = value.toListRef()[0];
    targets = value.toListRef()[1];
  }
  if (!inputs.isTensor() || !targets.isTensor()) refuse(true, kExpected);
  return {inputs.toTensor().detach().contiguous(), targets.toTensor().detach().contiguous()};
}

class GradientHook final : public torch::autograd::FunctionPostHook {
 public:
  GradientHook(std::size_t parameter, std::function<void(std::size_t)> on_gradient)
      : parameter_(parameter), on_gradient_(std::move(on_gradient)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    on_gradient_(parameter_);
    return outputs;
  }

 private:
  std::size_t parameter_;
  std::function<void(std::size_t)> on_gradient_;
};

}  // namespace

TrainableParameters::TrainableParameters(const torch::jit::Module& module) {
  std::map<std::pair<void*, std::int64_t>, std::size_t> tensor_at;  // by address and length
  for (const auto& parameter : module.named_parameters()) {
    const at::Tensor& p = parameter.value;
    if (!p.requires_grad()) continue;
    if (p.scalar_type() != at::kFloat)
      refuse(false, "its parameter " + parameter.name + " is of the type " +
                        toString(p.scalar_type()) +
                        "; expected float32, the only type that is trained");
    if (p.numel() == 0) continue;
    const auto [known, is_new] =
        tensor_at.emplace(std::pair(p.data_ptr(), p.numel()), first.size());
    if (is_new) {
      first.push_back(parameters.size());
      users.push_back(0);
    }
    tensor.push_back(known->second);
    ++users[known->second];
    parameters.push_back(p);
    names.push_back(parameter.name);
  }
  if (parameters.empty()) refuse(false, "has no parameter that is trained (requires_grad)");
}

std::vector<std::shared_ptr<torch::autograd::Node>> hook_gradients(
    const TrainableParameters& trained, std::function<void(std::size_t)> on_gradient) {
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;
  for (std::size_t i = 0; i < trained.parameters.size(); ++i) {
    accumulators.push_back(torch::autograd::impl::grad_accumulator(trained.parameters[i]));
    accumulators.back()->add_post_hook(std::make_unique<GradientHook>(i, on_gradient));
  }
  return accumulators;
}

void prepare_torch_thread() {
  // In the child of a fork, PyTorch makes a new thread pool at the first of these calls, without
  // regard to other threads that do the same.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  at::set_num_threads(1);
  torch::jit::setGraphExecutorOptimize(false);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
}

std::string first_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  // An error inside TorchScript ends with the line that says what was wrong.
  const std::size_t end = text.find_last_not_of('\n') + 1, begin = text.find_last_of('\n', end - 1);
  const bool in_script =
      text.find("TorchScript") != std::string::npos && begin != std::string::npos;
  return in_script ? text.substr(begin + 1, end - begin - 1) : text.substr(0, text.find('\n'));
}

LoadedScript::LoadedScript(const TorchScriptOptions& options)
    : options_(options), model_(content_of(options.model, false)) {
  load_data();
  const TrainableParameters trained(module());
  order_parameters(trained, try_pass());
}

torch::jit::Module LoadedScript::module() const {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  try {
    std::istringstream content(model_);
    return torch::jit::load(content, at::kCPU);
  } catch (const std::exception&) {
    refuse(false, "expected a TorchScript file, written by torch.jit.save");
  }
}

void LoadedScript::load_data() {
  const std::string content = content_of(options_.data, true);
  c10::IValue value;
  try {
    value = torch::jit::pickle_load({content.begin(), content.end()});
  } catch (const std::exception&) {
    refuse(true, "expected a file of tensors, written by torch.save");
  }
  std::tie(inputs_, targets_) = pair_of(value);
  const std::int64_t samples = inputs_.dim() > 0 ? inputs_.size(0) : 0;
  if (targets_.dim() == 0 || targets_.size(0) != samples || samples < 2)
    refuse(true, "expected inputs and targets of the same number of samples, at least 2");
  if (options_.loss == TorchLoss::cross_entropy && targets_.scalar_type() != at::kLong)
    refuse(true, "its targets are of the type " + std::string(toString(targets_.scalar_type())) +
                     "; expected int64 classes for the loss cross_entropy");
  for (std::int64_t i = 0; i < samples; ++i)
    (i % static_cast<std::int64_t>(options_.held_out) == 0 ? held_out_ : train_).push_back(i);
}

LoadedScript::Batch LoadedScript::batch_of(const std::vector<std::int64_t>& samples) const {
  const at::Tensor index = torch::tensor(samples, at::kLong);
  return {inputs_.index_select(0, index), targets_.index_select(0, index)};
}

LoadedScript::Batch LoadedScript::training_batch(std::span<const std::uint32_t> samples) const {
  std::vector<std::int64_t> chosen;
  for (const std::uint32_t sample : samples) chosen.push_back(train_[sample]);
  return batch_of(chosen);
}

LoadedScript::Batch LoadedScript::held_out_batch(std::size_t begin, std::size_t count) const {
  const std::size_t end = std::min(begin + count, held_out_.size());
  return batch_of(
      {held_out_.begin() + std::ptrdiff_t(begin), held_out_.begin() + std::ptrdiff_t(end)});
}

LoadedScript::Outcome LoadedScript::run(torch::jit::Module& module, const Batch& batch) const {
  if (options_.loss == TorchLoss::model)
    return {module.forward({batch.inputs, batch.targets}).toTensor(), {}};
  const at::Tensor output = module.forward({batch.inputs}).toTensor();
  if (options_.loss == TorchLoss::mse) return {at::mse_loss(output, batch.targets), {}};
  const at::Tensor logits = output.reshape({-1, output.size(-1)});
  return {at::cross_entropy_loss(logits, batch.targets.reshape({-1})), logits};
}

TrialResult LoadedScript::try_pass() const {
  torch::jit::Module trial_module = module();
  const std::size_t count = std::min(options_.batch, train_.size());
  std::vector<std::uint32_t> samples(count);
  std::iota(samples.begin(), samples.end(), 0);
  const TrialResult result = run_trial([&](FlopCounter& flops) {
    TrialResult seen;
    const TrainableParameters trained(trial_module);
    std::vector<int> missing = trained.users;
    const auto hooks = hook_gradients(trained, [&](std::size_t i) {
      if (--missing[trained.tensor[i]] > 0) return;
      seen.order.push_back(trained.tensor[i]);
      seen.backward_flops.push_back(flops.take());
    });
    trial_module.train();
    const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state();
    const at::Tensor loss = run(trial_module, training_batch(samples)).loss;
    seen.is_random = !before.equal(at::detail::getDefaultCPUGenerator().get_state());
    seen.forward_flops = flops.take();
    loss.backward();
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i] > 0) {
        seen.order.push_back(i);
        seen.backward_flops.push_back(0);
      }
    return seen;
  });
  if (!result.error.empty()) refuse(false, "fails on the first samples: " + result.error);
  return result;
}

void LoadedScript::order_parameters(const TrainableParameters& trained, const TrialResult& trial) {
  std::vector<std::size_t> place(trial.order.size());
  for (std::size_t i = 0; i < trial.order.size(); ++i) {
    place[trial.order[i]] = i;
    const std::size_t parameter = trained.first[trial.order[i]];
    const at::Tensor p = trained.parameters[parameter].detach().contiguous();
    parameters_.names.push_back(trained.names[parameter]);
    parameters_.lengths.push_back(std::size_t(p.numel()));
    parameters_.rows.push_back(p.dim() >= 2 ? std::size_t(p.size(0)) : 1);
    const float* values = p.data_ptr<float>();
    parameters_.weights.insert(parameters_.weights.end(), values, values + p.numel());
  }
  for (const std::size_t tensor : trained.tensor) places_.push_back(place[tensor]);
  for (const at::Tensor& buffer : module().buffers())
    if (buffer.scalar_type() == at::kFloat) parameters_.buffer_numel += std::size_t(buffer.numel());
  parameters_.forward_flops = trial.forward_flops;
  parameters_.backward_flops = trial.backward_flops;
  is_random_ = trial.is_random;
}

}  // namespace trigram

extern "C" trigram::TorchScript* trigram_load_torch_script(
    const trigram::TorchScriptOptions& options, trigram::TorchFileError& error) {
  try {
    return new trigram::LoadedScript(options);
  } catch (const trigram::TorchFileError& mistake) {
    error = mistake;
  } catch (const std::exception& mistake) {
    error = {false, trigram::first_line(mistake)};
  }
  return nullptr;
}
