#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "cuda/net/nccl_net_v11.h"
#include "cuda/net/nccl_net_v8.h"

namespace trigram::net {

/// A plugin that was loaded as NCCL loads it, with dlopen. Calls that need the peer are repeated
/// until they end, as in NCCL. All members throw std::runtime_error, with NCCL's code in the text,
/// if the plugin returns an error.
class LoadedPlugin {
 public:
  using HandleBytes = std::array<std::byte, kMaxHandleBytes>;

  /// Loads the library that the environment variable TRIGRAM_NET_PLUGIN names. Does not call init.
  LoadedPlugin();
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;

  void init() const;
  void* listen(HandleBytes& handle, int device = 0) const;
  void* connect(HandleBytes handle, int device = 0) const;
  void* accept(void* listen_comm) const;
  /// Starts a message, as soon as the plugin takes it.
  void* isend(void* comm, const void* data, std::size_t bytes) const;
  void* irecv(void* comm, void* data, std::size_t bytes) const;
  /// True if the request is done; `bytes` then gets the size of the message.
  bool test(void* request, int* bytes = nullptr) const;
  /// Waits until the request is done; returns the size of the message.
  int wait(void* request) const;

  const v11::Net* v11 = nullptr;
  const v8::Net* v8 = nullptr;
};

/// Throws std::runtime_error if `result` is an error.
void check(Result result, const std::string& call);

}  // namespace trigram::net
