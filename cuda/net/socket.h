#pragma once

#include <netinet/in.h>

#include <chrono>
#include <optional>
#include <string>

namespace trigram::net {

using Clock = std::chrono::steady_clock;

/// An IPv4 or IPv6 address with a port. Plain bytes, because it travels in NCCL's handle.
union Address {
  sockaddr generic;
  sockaddr_in v4;
  sockaddr_in6 v6;

  socklen_t size() const { return generic.sa_family == AF_INET6 ? sizeof v6 : sizeof v4; }
  /// For example 10.0.0.1:4000 or [fd00::1]:4000.
  std::string text() const;
};

/// A file descriptor that closes itself. Sockets that the functions below return never block.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int release();
  int fd_ = -1;
};

/// Listens at `address` on a port that the system chooses and that is then set in `address`. Throws
/// NetError.
Descriptor listen_at(Address& address);

/// Starts to connect. Reads and writes return EAGAIN until the connection is established, and an
/// error if it failed.
Descriptor start_connecting(const Address& address);

/// The next waiting connection, if there is one, with its peer's address.
std::optional<Descriptor> accept_waiting(const Descriptor& listener, Address& peer);

/// Makes the kernel send bytes at once (TCP_NODELAY), and end the connection if the peer has
/// answered no probe for `timeout`. A connection to a peer that is alive but does not read stays
/// open.
void prepare_stream(const Descriptor& socket, std::chrono::seconds timeout);

/// Limits the unsent bytes that the kernel accepts to those that it delivers in `time` at the rate
/// that it has measured, but at least 64 KiB and at most 4 MiB. No effect before the first
/// measurement.
void bound_unsent(const Descriptor& socket, std::chrono::duration<double> time);

/// True if the kernel holds bytes that the network does not take yet.
bool has_unsent(const Descriptor& socket);

/// True if data or probes have waited for an answer for `timeout`: the peer's machine or the
/// network is down. The kernel itself repeats its attempts for about 15 minutes (tcp_retries2).
/// TCP_USER_TIMEOUT would be no substitute: it also ends a connection to a peer that is alive and
/// reads nothing for that long, such as a rank that evaluates.
bool peer_is_silent(const Descriptor& socket, std::chrono::seconds timeout);

}  // namespace trigram::net
