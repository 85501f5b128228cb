#include "core/training_state.h"

#include <map>
#include <mutex>
#include <utility>

namespace trigram {

/// Streams may be threads, so a mutex protects the maps. It is never held across an operation of a
/// device, which may switch to another stream. References to elements of a map stay valid when
/// others are added.
struct TrainingState::Content {
  std::mutex mutex;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::vector<std::byte>> values;
  bool other_sizes = false;
};

TrainingState::TrainingState() : content_(std::make_shared<Content>()) {}

Tensor& TrainingState::tensor(const std::string& name, const std::function<Tensor()>& make) const {
  const std::string path = prefix_ + name;
  {
    std::lock_guard lock(content_->mutex);
    const auto found = content_->tensors.find(path);
    if (found != content_->tensors.end()) return found->second;
  }
  Tensor made = make();
  std::lock_guard lock(content_->mutex);
  return content_->tensors.emplace(path, std::move(made)).first->second;
}

Tensor& TrainingState::tensor_like(const std::string& name, const Tensor& like,
                                   const std::function<Tensor()>& make) const {
  Tensor& kept = tensor(name, make);
  if (kept.numel() == like.numel()) return kept;
  TRIGRAM_CHECK(content_->other_sizes, "the state \"{}\" has {} elements, not {}", name,
                kept.numel(), like.numel());
  return kept = make();
}

Tensor& TrainingState::zeros_like(const Context& ctx, const std::string& name,
                                  const Tensor& x) const {
  return tensor_like(name, x, [&] { return ctx.device->zeros_like(x); });
}

Tensor& TrainingState::copy_of(const Context& ctx, const std::string& name, const Tensor& x) const {
  return tensor_like(name, x, [&] { return ctx.device->copy_of(x); });
}

std::vector<std::byte>& TrainingState::bytes(const std::string& name,
                                             std::span<const std::byte> initial) const {
  std::lock_guard lock(content_->mutex);
  std::vector<std::byte>& kept =
      content_->values.try_emplace(prefix_ + name, initial.begin(), initial.end()).first->second;
  if (content_->other_sizes && kept.size() != initial.size())
    kept.assign(initial.begin(), initial.end());
  TRIGRAM_CHECK(kept.size() == initial.size(), "the state \"{}\" has {} bytes, not {}", name,
                kept.size(), initial.size());
  return kept;
}

TrainingState TrainingState::child(const std::string& name) const {
  TrainingState part = *this;
  part.prefix_ += name + "/";
  return part;
}

void TrainingState::allow_other_sizes() const { content_->other_sizes = true; }

void TrainingState::clear() const {
  std::lock_guard lock(content_->mutex);
  const auto own = [this](const auto& entry) { return entry.first.starts_with(prefix_); };
  std::erase_if(content_->tensors, own);
  std::erase_if(content_->values, own);
}

void TrainingState::visit(StateVisitor& visitor) const {
  for (auto& [name, x] : content_->tensors)
    if (name.starts_with(prefix_)) visitor.tensor(name, x);
  for (auto& [name, value] : content_->values)
    if (name.starts_with(prefix_)) visitor.bytes(name, value);
}

void TrainingState::put(const std::string& name, Tensor x) const {
  std::lock_guard lock(content_->mutex);
  content_->tensors[prefix_ + name] = std::move(x);
}

void TrainingState::put(const std::string& name, std::vector<std::byte> value) const {
  std::lock_guard lock(content_->mutex);
  content_->values[prefix_ + name] = std::move(value);
}

}  // namespace trigram
