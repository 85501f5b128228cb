#include "tests/cuda/net/loaded_plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace trigram::net {

void check(Result result, const std::string& call) {
  if (result != kSuccess) throw std::runtime_error(call + " returned " + std::to_string(result));
}

LoadedPlugin::LoadedPlugin() {
  const char* path = std::getenv("TRIGRAM_NET_PLUGIN");
  if (!path) throw std::runtime_error("TRIGRAM_NET_PLUGIN names no library");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  v11 = static_cast<const v11::Net*>(dlsym(library, "ncclNetPlugin_v11"));
  v8 = static_cast<const v8::Net*>(dlsym(library, "ncclNetPlugin_v8"));
  if (!v11 || !v8) throw std::runtime_error(dlerror());
}

void LoadedPlugin::init() const {
  void* context = nullptr;
  check(v11->init(&context, 1, nullptr, nullptr, nullptr), "init");
}

void* LoadedPlugin::listen(HandleBytes& handle, int device) const {
  handle = {};
  void* comm = nullptr;
  check(v11->listen(nullptr, device, handle.data(), &comm), "listen");
  return comm;
}

void* LoadedPlugin::connect(HandleBytes handle, int device) const {
  void* comm = nullptr;
  for (DeviceHandle* ignored = nullptr; !comm; std::this_thread::yield())
    check(v11->connect(nullptr, device, handle.data(), &comm, &ignored), "connect");
  return comm;
}

void* LoadedPlugin::accept(void* listen_comm) const {
  void* comm = nullptr;
  for (DeviceHandle* ignored = nullptr; !comm; std::this_thread::yield())
    check(v11->accept(listen_comm, &comm, &ignored), "accept");
  return comm;
}

void* LoadedPlugin::isend(void* comm, const void* data, std::size_t bytes) const {
  void* request = nullptr;
  while (!request)
    check(v11->isend(comm, const_cast<void*>(data), bytes, 0, nullptr, nullptr, &request), "isend");
  return request;
}

void* LoadedPlugin::irecv(void* comm, void* data, std::size_t bytes) const {
  void* request = nullptr;
  int tag = 0;
  void* handle = nullptr;
  while (!request)
    check(v11->irecv(comm, 1, &data, &bytes, &tag, &handle, nullptr, &request), "irecv");
  return request;
}

bool LoadedPlugin::test(void* request, int* bytes) const {
  int done = 0;
  int size = 0;
  check(v11->test(request, &done, &size), "test");
  if (done && bytes) *bytes = size;
  return done != 0;
}

int LoadedPlugin::wait(void* request) const {
  int bytes = 0;
  while (!test(request, &bytes)) std::this_thread::yield();
  return bytes;
}

}  // namespace trigram::net
