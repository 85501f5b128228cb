#include "cuda/net/connector.h"

#include <fmt/format.h>

#include <utility>

#include "cuda/net/error.h"

namespace trigram::net {

Connector::Connector(const Handle& handle, const Settings& settings, Counters& counters)
    : peer_(handle.address.text()),
      timeout_(settings.timeout),
      counters_(counters),
      deadline_(Clock::now() + settings.timeout) {
  const Mac key = connection_key(settings.secret, handle.nonce);
  Hello hello;
  hello.connection = random_nonce();
  hello.streams = static_cast<std::uint32_t>(settings.streams);
  for (; hello.stream < hello.streams; ++hello.stream) {
    hello.nonce = random_nonce();
    sockets_.push_back(start_connecting(handle.address));
    handshakes_.emplace_back(Handshake::Role::connects, key, hello);
  }
}

std::unique_ptr<Sender> Connector::advance() {
  bool ready = true;
  try {
    for (std::size_t i = 0; i < sockets_.size(); ++i)
      ready = handshakes_[i].advance(sockets_[i].get()) && ready;
  } catch (const NetError& error) {
    throw NetError(error.code(), fmt::format("cannot connect to {}: {}", peer_, error.what()));
  }
  if (ready) return std::make_unique<Sender>(std::move(sockets_), timeout_, counters_);
  if (Clock::now() > deadline_)
    throw NetError(kSystemError,
                   fmt::format("cannot connect to {} within {} s", peer_, timeout_.count()));
  return nullptr;
}

}  // namespace trigram::net
