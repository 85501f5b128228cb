#include "cuda/net/socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "cuda/net/error.h"

namespace trigram::net {
namespace {

constexpr int kBacklog = 1024;
constexpr int kMinUnsentBytes = 64 << 10;
constexpr int kMaxUnsentBytes = 4 << 20;
constexpr int kProbes = 4;

void set_option(const Descriptor& socket, int level, int name, int value) {
  if (setsockopt(socket.get(), level, name, &value, sizeof value) != 0)
    throw system_error("setsockopt", errno);
}

Descriptor new_socket(int family) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) throw system_error("cannot make a socket", errno);
  return socket;
}

}  // namespace

NetError system_error(const std::string& what, int error) {
  return NetError(kSystemError, what + ": " + std::generic_category().message(error));
}

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (generic.sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &v6.sin6_addr, host.data(), host.size());
    return fmt::format("[{}]:{}", host.data(), ntohs(v6.sin6_port));
  }
  inet_ntop(AF_INET, &v4.sin_addr, host.data(), host.size());
  return fmt::format("{}:{}", host.data(), ntohs(v4.sin_port));
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  Descriptor old(std::exchange(fd_, other.release()));
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int Descriptor::release() { return std::exchange(fd_, -1); }

Descriptor listen_at(Address& address) {
  Descriptor socket = new_socket(address.generic.sa_family);
  socklen_t size = address.size();
  if (bind(socket.get(), &address.generic, size) != 0)
    throw system_error("cannot bind " + address.text(), errno);
  if (listen(socket.get(), kBacklog) != 0)
    throw system_error("cannot listen at " + address.text(), errno);
  if (getsockname(socket.get(), &address.generic, &size) != 0)
    throw system_error("getsockname", errno);
  return socket;
}

Descriptor start_connecting(const Address& address) {
  Descriptor socket = new_socket(address.generic.sa_family);
  if (connect(socket.get(), &address.generic, address.size()) != 0 && errno != EINPROGRESS)
    throw system_error("cannot connect to " + address.text(), errno);
  return socket;
}

std::optional<Descriptor> accept_waiting(const Descriptor& listener, Address& peer) {
  socklen_t size = sizeof peer;
  Descriptor socket(accept4(listener.get(), &peer.generic, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) return socket;
  // If a connection failed while it waited, accept reports its failure (man 2 accept); the next
  // call may succeed.
  return std::nullopt;
}

void prepare_stream(const Descriptor& socket, std::chrono::seconds timeout) {
  const int interval_s = std::max<int>(1, static_cast<int>(timeout.count()) / (kProbes + 1));
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, interval_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, interval_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

void bound_unsent(const Descriptor& socket, std::chrono::duration<double> time) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      info.tcpi_delivery_rate == 0)
    return;
  const double bytes = static_cast<double>(info.tcpi_delivery_rate) * time.count();
  set_option(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT,
             static_cast<int>(std::clamp<double>(bytes, kMinUnsentBytes, kMaxUnsentBytes)));
}

bool has_unsent(const Descriptor& socket) {
  int bytes = 0;
  return ioctl(socket.get(), SIOCOUTQNSD, &bytes) == 0 && bytes > 0;
}

bool peer_is_silent(const Descriptor& socket, std::chrono::seconds timeout) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  // A single attempt may still be in flight, after a long time in which the peer's window was
  // closed.
  const bool unanswered = info.tcpi_retransmits > 1 || info.tcpi_probes > 1;
  return unanswered && std::chrono::milliseconds(info.tcpi_last_ack_recv) > timeout;
}

}  // namespace trigram::net
