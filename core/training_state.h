#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/check.h"
#include "core/context.h"

namespace trigram {

/// Receives every tensor and every number of a state, by name, always in the same order. A visitor
/// either reads the values, to save the state, or replaces them by saved values.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;
  virtual void tensor(const std::string& name, Tensor& x) = 0;
  virtual void bytes(const std::string& name, std::span<std::byte> value) = 0;
  template <class T>
  void value(const std::string& name, T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes(name, std::as_writable_bytes(std::span(&value, 1)));
  }
};

/// The state that the training loop of one rank keeps from step to step, besides the weights and
/// the optimizer's state: residuals of codes, replicas, momenta of outer steps, counters. A run may
/// be trained in parts, and `Algorithm::train` is called once for each part. A name that an earlier
/// part has used gives the tensor or the number as that part left it; a new name creates it. So a
/// loop that keeps its state here continues where it stopped, also in another process, to which the
/// state was restored from a checkpoint.
///
/// State that `train` can build again from the weights when a part begins, and buffers whose
/// content no later step reads, need not be kept.
///
/// A TrainingState is a handle: its copies share the state, so that exchanges can own a copy. Any
/// stream of the rank may use it, but no two streams may use the same name.
class TrainingState {
 public:
  TrainingState();

  /// The tensor of this name, created by `make` if the name is new. The reference is valid as long
  /// as the state exists; the tensor that it refers to may be replaced by another tensor of the
  /// same size.
  Tensor& tensor(const std::string& name, const std::function<Tensor()>& make) const;
  /// The same, made as zeros, or as a copy, of `x`.
  Tensor& zeros_like(const Context& ctx, const std::string& name, const Tensor& x) const;
  Tensor& copy_of(const Context& ctx, const std::string& name, const Tensor& x) const;

  /// The `count` numbers of this name; all are `initial` if the name is new.
  template <class T>
  std::span<T> values(const std::string& name, std::size_t count, T initial = {}) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::vector<T> all(count, initial);
    std::vector<std::byte>& kept = bytes(name, std::as_bytes(std::span<const T>(all)));
    return {reinterpret_cast<T*>(kept.data()), count};
  }
  template <class T>
  T& value(const std::string& name, T initial = {}) const {
    return values<T>(name, 1, initial)[0];
  }

  /// The part of this state whose names begin with `name` and a slash.
  TrainingState child(const std::string& name) const;
  /// Declares that this state comes from a run with another number of ranks: a tensor or numbers of
  /// an unexpected size are then created anew. Without this declaration, an unexpected size is an
  /// error.
  void allow_other_sizes() const;
  /// Removes everything, so that all names are new.
  void clear() const;

  /// Passes everything to `visitor`, sorted by name.
  void visit(StateVisitor& visitor) const;
  /// Sets the tensor or the bytes of a name, for a part that will use it.
  void put(const std::string& name, Tensor x) const;
  void put(const std::string& name, std::vector<std::byte> value) const;

 private:
  struct Content;
  Tensor& tensor_like(const std::string& name, const Tensor& like,
                      const std::function<Tensor()>& make) const;
  std::vector<std::byte>& bytes(const std::string& name, std::span<const std::byte> initial) const;

  std::shared_ptr<Content> content_;
  std::string prefix_;
};

}  // namespace trigram
