#include "cuda/net/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/socket.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include "cuda/net/error.h"
#include "cuda/net/settings.h"

static_assert(std::endian::native == std::endian::little);

namespace trigram::net {
namespace {

constexpr int kMessages = 4;

Mac hmac(const void* key, std::size_t key_bytes, std::string_view text) {
  Mac mac{};
  unsigned int size = 0;
  if (!HMAC(EVP_sha256(), key, static_cast<int>(key_bytes),
            reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size))
    throw NetError(kSystemError, "OpenSSL has no HMAC-SHA256");
  return mac;
}

template <class Bytes>
std::string_view view_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(&bytes), sizeof bytes};
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Nonce random_nonce() {
  Nonce nonce{};
  if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1)
    throw NetError(kSystemError, "OpenSSL has no random numbers");
  return nonce;
}

Mac connection_key(std::string_view secret, const Nonce& handle_nonce) {
  return hmac(secret.data(), secret.size(),
              std::string("trigram-net 1 key") + std::string(view_of(handle_nonce)));
}

Handshake::Handshake(Role role, const Mac& key, const Hello& hello)
    : role_(role), key_(key), hello_(hello) {
  if (sends()) prepare();
}

std::size_t Handshake::message_bytes() const {
  return std::array<std::size_t, kMessages>{sizeof(Hello), sizeof(Nonce), sizeof(Mac),
                                            sizeof(Mac)}[message_];
}

Mac Handshake::proof(std::string_view side) const {
  return hmac(key_.data(), key_.size(),
              std::string(side).append(view_of(hello_)).append(view_of(challenge_)));
}

void Handshake::prepare() {
  if (message_ == 0) {
    std::memcpy(buffer_.data(), &hello_, sizeof hello_);
  } else if (message_ == 1) {
    challenge_ = random_nonce();
    std::memcpy(buffer_.data(), &challenge_, sizeof challenge_);
  } else {
    const Mac mac = proof(message_ == 2 ? "connects" : "accepts");
    std::memcpy(buffer_.data(), &mac, sizeof mac);
  }
}

void Handshake::check() {
  if (message_ == 0) {
    std::memcpy(&hello_, buffer_.data(), sizeof hello_);
    if (hello_.magic != Hello().magic)
      throw NetError(kRemoteError, "it does not speak this plugin's protocol");
    if (hello_.streams < 1 || hello_.streams > kMaxStreams || hello_.stream >= hello_.streams)
      throw NetError(kRemoteError, "its first message names a stream that cannot be");
  } else if (message_ == 1) {
    std::memcpy(&challenge_, buffer_.data(), sizeof challenge_);
  } else {
    const Mac mac = proof(message_ == 2 ? "connects" : "accepts");
    if (CRYPTO_memcmp(buffer_.data(), mac.data(), mac.size()) != 0)
      throw NetError(kRemoteError, "its TRIGRAM_NET_SECRET differs from ours");
  }
}

bool Handshake::advance(int fd) {
  while (message_ < kMessages) {
    unsigned char* at = buffer_.data() + moved_;
    const std::size_t left = message_bytes() - moved_;
    const ssize_t moved = sends() ? ::send(fd, at, left, MSG_NOSIGNAL) : ::recv(fd, at, left, 0);
    if (moved < 0 && would_block(errno)) return false;
    if (moved < 0 && errno != ECONNRESET && errno != EPIPE)
      throw system_error("the connection failed", errno);
    if (moved <= 0)
      throw NetError(kRemoteError,
                     role_ == Role::connects && message_ == 3
                         ? "it refused us: probably its TRIGRAM_NET_SECRET differs from ours"
                         : "it closed the connection before it was authenticated");
    moved_ += static_cast<std::size_t>(moved);
    if (moved_ < message_bytes()) continue;
    if (!sends()) check();
    ++message_;
    moved_ = 0;
    if (message_ < kMessages && sends()) prepare();
  }
  return true;
}

}  // namespace trigram::net
