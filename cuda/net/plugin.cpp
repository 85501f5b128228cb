#include "cuda/net/plugin.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cuda/net/connector.h"
#include "cuda/net/error.h"
#include "cuda/net/listener.h"

namespace trigram::net::plugin {
namespace {

constexpr std::uint64_t kHandleMagic = 0x3174656e67697274;  // "trignet1"
static_assert(sizeof(Handle) <= kMaxHandleBytes);

/// The state that all calls in a process share. NCCL's interface passes no object to most
/// functions, so there is one object per process.
struct State {
  std::atomic<Logger> logger{nullptr};
  std::mutex mutex;  // guards the members below, up to the counters
  bool initialised = false;
  Settings settings;
  std::vector<Device> devices;
  std::map<std::uint64_t, std::unique_ptr<Connector>> connectors;  // by the number in the handle
  std::uint64_t next_connector = 1;

  Counters counters;
  std::atomic<int> open_connections{0};
};

State& state() {
  static State the_state;
  return the_state;
}

void log(LogLevel level, const std::string& line) {
  if (const Logger logger = state().logger)
    logger(level, level == kLogWarn ? kLogAll : kLogNet, __FILE__, __LINE__, "NET/Trigram : %s",
           line.c_str());
  else if (level == kLogWarn) std::fprintf(stderr, "NET/Trigram : %s\n", line.c_str());
}

/// Runs `body`; an exception becomes a line in the log and a code.
template <class Body>
Result guarded(Body body) noexcept {
  try {
    body();
    return kSuccess;
  } catch (const NetError& error) {
    log(kLogWarn, error.what());
    return error.code();
  } catch (const std::exception& error) {
    log(kLogWarn, error.what());
    return kInternalError;
  }
}

const Device& device_at(int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= state().devices.size())
    throw NetError(kInvalidArgument, "there is no device " + std::to_string(index));
  return state().devices[static_cast<std::size_t>(index)];
}

void report() {
  const Environment environment = [](const char* name) { return std::getenv(name); };
  if (const std::string& pattern = state().settings.report; !pattern.empty())
    write_report(state().counters, report_path(pattern, environment, getpid()));
}

template <class Comm>
Result close_connection(void* comm) {
  return guarded([&] {
    if (!comm) return;
    delete static_cast<Comm*>(static_cast<Connection*>(comm));
    if (--state().open_connections == 0) report();
  });
}

Result start(void* comm, void* data, std::size_t size, void** request) {
  return guarded([&] { *request = static_cast<Connection*>(comm)->start(data, size); });
}

}  // namespace

Result init(Logger logger) {
  state().logger = logger;
  return guarded([] {
    const std::lock_guard lock(state().mutex);
    if (state().initialised) return;
    state().settings = Settings::from([](const char* name) { return std::getenv(name); });
    state().devices = find_devices(state().settings);
    state().initialised = true;
    for (const Device& device : state().devices)
      log(kLogInfo, "using " + device.name + " at " + device.address.text());
  });
}

Result finalize() {
  return guarded([] { report(); });
}

Result devices(int* count) {
  *count = static_cast<int>(state().devices.size());
  return kSuccess;
}

const Device* device(int index, Result& result) {
  const Device* found = nullptr;
  result = guarded([&] { found = &device_at(index); });
  return found;
}

Result listen(int device, void* handle, void** listen_comm) {
  return guarded([&] {
    Handle made;
    made.magic = kHandleMagic;
    *listen_comm = new Listener(
        device_at(device).address, state().settings, state().counters,
        [](const std::string& line) { log(kLogWarn, line); }, made);
    std::memcpy(handle, &made, sizeof made);
  });
}

Result connect(int device, void* handle, void** send_comm, DeviceHandle** device_handle) {
  *send_comm = nullptr;
  if (device_handle) *device_handle = nullptr;
  return guarded([&] {
    Handle known;
    std::memcpy(&known, handle, sizeof known);
    if (known.magic != kHandleMagic)
      throw NetError(
          kInvalidUsage,
          "the peer's handle is not of this plugin: all ranks need the same NCCL_NET_PLUGIN");
    const std::lock_guard lock(state().mutex);
    auto& connectors = state().connectors;
    auto it = connectors.find(known.connector);
    if (it == connectors.end()) {
      // The number of an interface in a link-local address is this host's, not the listener's.
      if (known.address.generic.sa_family == AF_INET6 &&
          IN6_IS_ADDR_LINKLOCAL(&known.address.v6.sin6_addr))
        known.address.v6.sin6_scope_id = device_at(device).index;
      known.connector = state().next_connector++;
      std::memcpy(handle, &known, sizeof known);
      auto connector = std::make_unique<Connector>(known, state().settings, state().counters);
      it = connectors.emplace(known.connector, std::move(connector)).first;
    }
    std::unique_ptr<Sender> sender;
    try {
      sender = it->second->advance();
    } catch (...) {
      connectors.erase(it);
      throw;
    }
    if (!sender) return;
    connectors.erase(it);
    ++state().open_connections;
    *send_comm = static_cast<Connection*>(sender.release());
  });
}

Result accept(void* listen_comm, void** recv_comm, DeviceHandle** device_handle) {
  *recv_comm = nullptr;
  if (device_handle) *device_handle = nullptr;
  return guarded([&] {
    auto receiver = static_cast<Listener*>(listen_comm)->accept();
    if (!receiver) return;
    ++state().open_connections;
    *recv_comm = static_cast<Connection*>(receiver.release());
  });
}

Result reg_mr(void*, void*, std::size_t, int type, void** mhandle) {
  *mhandle = nullptr;
  return type == kPtrHost ? kSuccess : kInternalError;
}

Result dereg_mr(void*, void*) { return kSuccess; }

Result isend(void* send_comm, void* data, std::size_t size, void** request) {
  return start(send_comm, data, size, request);
}

Result irecv(void* recv_comm, int n, void** data, std::size_t size, void** request) {
  return n == 1 ? start(recv_comm, data[0], size, request) : kInternalError;
}

Result iflush(void*, int, void**, int*, void**, void** request) {
  *request = nullptr;
  return kSuccess;
}

Result test(void* request, int* done, int* sizes) {
  *done = 0;
  return guarded([&] {
    auto& tested = *static_cast<Request*>(request);
    std::size_t bytes = 0;
    if (!tested.owner->test(tested, bytes)) return;
    *done = 1;
    if (sizes) *sizes = static_cast<int>(bytes);
  });
}

Result close_send(void* send_comm) { return close_connection<Sender>(send_comm); }

Result close_recv(void* recv_comm) { return close_connection<Receiver>(recv_comm); }

Result close_listen(void* listen_comm) {
  return guarded([&] { delete static_cast<Listener*>(listen_comm); });
}

}  // namespace trigram::net::plugin
