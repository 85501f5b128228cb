#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/net/counters.h"
#include "cuda/net/handshake.h"
#include "cuda/net/listener.h"
#include "cuda/net/sender.h"
#include "cuda/net/settings.h"

namespace trigram::net {

/// Connects to a Listener. Opens all TCP connections of the connection at once, without blocking.
class Connector {
 public:
  /// Throws NetError.
  Connector(const Handle& handle, const Settings& settings, Counters& counters);

  /// The connection, once all of its streams are authenticated; null before. Throws NetError if the
  /// listener refuses a stream or cannot be reached, or after the timeout of the settings.
  std::unique_ptr<Sender> advance();

 private:
  std::string peer_;
  std::chrono::seconds timeout_;
  Counters& counters_;
  Clock::time_point deadline_;
  std::vector<Descriptor> sockets_;
  std::vector<Handshake> handshakes_;
};

}  // namespace trigram::net
