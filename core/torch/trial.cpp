#include "core/torch/trial.h"

#include <ATen/record_function.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <thread>

#include "core/files.h"
#include "core/json.h"
#include "core/torch/loaded_script.h"

namespace trigram {
namespace {

std::atomic<bool> autograd_started = false;
/// The operations that this thread has counted since the last call of `take`, and those of each
/// product of the forward pass, by the sequence number that autograd gives it.
thread_local double counted_flops = 0;
thread_local std::map<std::int64_t, double> flops_of_forward;

/// Of a convolution, whose arguments are input, weight, bias, stride, padding, dilation,
/// transposed, ...
double convolution_flops(c10::ArrayRef<const c10::IValue> arguments) {
  const at::Tensor &input = arguments[0].toTensor(), &weight = arguments[1].toTensor();
  const auto numel = static_cast<double>(weight.numel());
  const bool transposed = arguments[6].toBool();
  double positions = static_cast<double>(input.size(0));
  for (std::int64_t i = 0; i + 2 < input.dim(); ++i) {
    const auto at = [&](std::size_t list) {
      const auto values = arguments[list].toIntVector();
      return values[values.size() == 1 ? 0 : std::size_t(i)];
    };
    const std::int64_t window = at(5) * (weight.size(i + 2) - 1) + 1;
    positions *= static_cast<double>(
        transposed ? input.size(i + 2) : (input.size(i + 2) + 2 * at(4) - window) / at(3) + 1);
  }
  return 2 * positions * numel;
}

bool is_product(const std::string& name) {
  return name == "aten::mm" || name == "aten::bmm" || name == "aten::addmm" ||
         name == "aten::baddbmm" || name == "aten::convolution";
}

/// Of a matrix product or a convolution in a forward pass; a multiply and an add count as two.
double product_flops(const std::string& name, c10::ArrayRef<const c10::IValue> arguments) {
  const auto product = [&](std::size_t first) {
    const at::Tensor &a = arguments[first].toTensor(), &b = arguments[first + 1].toTensor();
    return 2 * static_cast<double>(a.numel()) * static_cast<double>(b.size(-1));
  };
  if (name == "aten::mm" || name == "aten::bmm") return product(0);
  if (name == "aten::addmm" || name == "aten::baddbmm") return product(1);
  if (name == "aten::convolution") return convolution_flops(arguments);
  return 0;
}

std::unique_ptr<at::ObserverContext> count_flops(const at::RecordFunction& function) {
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    // A product for the gradient of each operand, with as many operations as the forward pass.
    if (const auto found = flops_of_forward.find(function.seqNr()); found != flops_of_forward.end())
      counted_flops += 2 * found->second;
    return nullptr;
  }
  const auto schema = function.operator_schema();
  if (!schema || !at::GradMode::is_enabled()) return nullptr;  // an operation of the backward pass
  const std::string name = function.name();
  if (!is_product(name)) return nullptr;
  // An interpreter's call shows its whole stack, whose end has the arguments.
  const auto stack = function.inputs();
  const double flops = product_flops(name, stack.slice(stack.size() - schema->arguments().size()));
  counted_flops += flops;
  flops_of_forward[function.seqNr()] += flops;
  return nullptr;
}

TrialResult failed_trial(const std::string& why) {
  TrialResult result;
  result.error = why;
  return result;
}

TrialResult run_here(const std::function<TrialResult(FlopCounter&)>& pass) {
  TrialResult result;
  std::thread([&] {
    try {
      prepare_torch_thread();
      FlopCounter flops;
      result = pass(flops);
    } catch (const std::exception& error) {
      result = failed_trial(first_line(error));
    }
  }).join();
  return result;
}

Json to_json(const TrialResult& result) {
  return {{"order", result.order},
          {"forward_flops", result.forward_flops},
          {"backward_flops", result.backward_flops},
          {"is_random", result.is_random},
          {"error", result.error}};
}

TrialResult from_json(const Json& json) {
  return {json.at("order"), json.at("forward_flops"), json.at("backward_flops"),
          json.at("is_random"), json.at("error")};
}

}  // namespace

FlopCounter::FlopCounter()
    : callback_(at::addThreadLocalCallback(
          at::RecordFunctionCallback(count_flops)
              .needsInputs(true)
              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}))) {
  counted_flops = 0;
  flops_of_forward.clear();
}

FlopCounter::~FlopCounter() { at::removeCallback(callback_); }

double FlopCounter::take() { return std::exchange(counted_flops, 0); }

void autograd_starts_here() { autograd_started = true; }

TrialResult run_trial(const std::function<TrialResult(FlopCounter&)>& pass) {
  if (autograd_started) return run_here(pass);
  int ends[2];
  if (pipe(ends) != 0) return run_here(pass);
  std::fflush(nullptr);  // otherwise the child would also write the content of the parent's buffers
  const pid_t child = fork();
  if (child == 0) {
    const std::string text =
        to_json(run_here(pass)).dump(-1, ' ', false, Json::error_handler_t::replace);
    const bool written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  const FileDescriptor from_child(ends[0]);
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = read(from_child.get(), piece, sizeof(piece))) > 0;)
    text.append(piece, static_cast<std::size_t>(got));
  int status = 0;
  waitpid(child, &status, 0);
  if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || !Json::accept(text))
    text = to_json(failed_trial("the process that tried the model died")).dump();
  return from_json(Json::parse(text));
}

}  // namespace trigram
