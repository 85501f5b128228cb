#include "cuda/net/listener.h"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/net/error.h"

namespace trigram::net {

Listener::Listener(Address address, const Settings& settings, Counters& counters, Log log,
                   Handle& handle)
    : socket_(listen_at(address)),
      timeout_(settings.timeout),
      counters_(counters),
      log_(std::move(log)) {
  handle.nonce = random_nonce();
  handle.address = address;
  key_ = connection_key(settings.secret, handle.nonce);
}

std::unique_ptr<Receiver> Listener::accept() {
  const auto now = Clock::now();
  if (deadline_ == Clock::time_point{}) deadline_ = now + timeout_;
  take_waiting(now);
  advance(now);
  for (auto it = groups_.begin(); it != groups_.end(); ++it) {
    if (it->second.missing > 0) continue;
    auto receiver = std::make_unique<Receiver>(std::move(it->second.sockets), timeout_, counters_);
    groups_.erase(it);
    deadline_ = {};
    refused_ = 0;
    return receiver;
  }
  std::erase_if(groups_, [&](const auto& group) { return group.second.deadline < now; });
  if (now > deadline_)
    throw NetError(kSystemError,
                   fmt::format("no peer connected within {} s{}", timeout_.count(),
                               refused_ > 0 ? fmt::format("; refused clients: {}", refused_) : ""));
  return nullptr;
}

void Listener::take_waiting(Clock::time_point now) {
  Address peer{};
  while (auto socket = accept_waiting(socket_, peer)) {
    if (waiting_.size() == kMaxWaiting) {
      refuse(waiting_.front(), "too many clients are waiting");
      waiting_.erase(waiting_.begin());
    }
    waiting_.push_back({std::move(*socket), Handshake(Handshake::Role::accepts, key_), peer.text(),
                        now + std::min(kProofTimeout, timeout_)});
  }
}

void Listener::advance(Clock::time_point now) {
  std::vector<Waiting> still;
  for (Waiting& waiting : waiting_)
    if (still_waits(waiting, now)) still.push_back(std::move(waiting));
  waiting_ = std::move(still);
}

bool Listener::still_waits(Waiting& waiting, Clock::time_point now) {
  try {
    if (waiting.handshake.advance(waiting.socket.get())) {
      join(waiting, now);
      return false;
    }
  } catch (const NetError& error) {
    refuse(waiting, error.what());
    return false;
  }
  if (now <= waiting.deadline) return true;
  refuse(waiting, "it was not authenticated in time");
  return false;
}

void Listener::join(Waiting& waiting, Clock::time_point now) {
  const Hello& hello = waiting.handshake.hello();
  auto [it, is_new] = groups_.try_emplace(hello.connection);
  Group& group = it->second;
  if (is_new) group = {std::vector<Descriptor>(hello.streams), hello.streams, now + timeout_};
  if (group.sockets.size() != hello.streams || group.sockets[hello.stream])
    return refuse(waiting, "its stream does not fit to the others of its connection");
  group.sockets[hello.stream] = std::move(waiting.socket);
  --group.missing;
}

void Listener::refuse(const Waiting& waiting, const std::string& reason) {
  ++refused_;
  counters_.refused.fetch_add(1, std::memory_order_relaxed);
  log_(fmt::format("refused {}: {}", waiting.peer, reason));
}

}  // namespace trigram::net
