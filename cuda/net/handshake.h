#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trigram::net {

using Nonce = std::array<unsigned char, 16>;
using Mac = std::array<unsigned char, 32>;

/// A cryptographically random nonce (OpenSSL's RAND_bytes).
Nonce random_nonce();

/// The key of all connections to one listener: HMAC-SHA256 (RFC 2104) of the nonce in the
/// listener's handle, keyed with the job's secret. NCCL distributes the handle among the ranks of
/// the job, so the nonce is a second secret.
Mac connection_key(std::string_view secret, const Nonce& handle_nonce);

/// The first message, which the connecting side sends. Integers are little-endian, as on every
/// machine that NCCL supports.
struct Hello {
  std::array<char, 8> magic{'T', 'R', 'I', 'G', 'N', 'E', 'T', '1'};
  Nonce connection{};         // the same for all streams of a connection
  Nonce nonce{};              // fresh for each stream
  std::uint32_t stream = 0;   // the index of this stream
  std::uint32_t streams = 0;  // how many streams the connection has
};
static_assert(sizeof(Hello) == 48);

/// The authentication of one TCP connection, by both sides, without blocking:
///
///     connecting side   hello
///     accepting side    its own fresh nonce
///     connecting side   HMAC(key, "connects", hello, nonce)
///     accepting side    HMAC(key, "accepts", hello, nonce)
///
/// Each proof covers both nonces, so it cannot be replayed on another connection, and the name of a
/// side, so it cannot be sent back as the other side's proof. The accepting side proves nothing
/// before it has seen a proof, so a client without the key learns nothing from it. Traffic after
/// the handshake is neither encrypted nor authenticated.
class Handshake {
 public:
  enum class Role { connects, accepts };
  /// The accepting side's `hello` is ignored.
  Handshake(Role role, const Mac& key, const Hello& hello = {});

  /// Sends and receives what is possible now. Returns true once both sides have proved that they
  /// know the key. Throws NetError if the peer does not, ends the connection, or does not follow
  /// the protocol.
  bool advance(int fd);
  const Hello& hello() const { return hello_; }

 private:
  bool sends() const { return (message_ % 2 == 0) == (role_ == Role::connects); }
  std::size_t message_bytes() const;
  void prepare();
  void check();
  Mac proof(std::string_view side) const;

  Role role_;
  Mac key_;
  Hello hello_;
  Nonce challenge_{};
  int message_ = 0;  // index of the message in progress
  std::size_t moved_ = 0;
  std::array<unsigned char, 48> buffer_{};
};

}  // namespace trigram::net
