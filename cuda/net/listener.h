#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/net/counters.h"
#include "cuda/net/handshake.h"
#include "cuda/net/receiver.h"
#include "cuda/net/settings.h"
#include "cuda/net/socket.h"

namespace trigram::net {

/// The handle that NCCL carries from the listening rank to the connecting rank.
struct Handle {
  std::uint64_t magic = 0;
  Nonce nonce{};
  Address address{};
  // The connecting rank's key of its Connector, which connect() sets; 0: none yet.
  std::uint64_t connector = 0;
};

/// One line for the log.
using Log = std::function<void(const std::string& line)>;

/// Listens for connections of NCCL. Nothing blocks: each call of accept() advances the handshake of
/// every waiting TCP connection as far as possible. A client that sends an invalid message, or does
/// not prove the job's secret within `kProofTimeout`, is refused and logged. Waiting clients do not
/// delay the ranks of the job.
class Listener {
 public:
  static constexpr std::chrono::seconds kProofTimeout{5};
  /// At most so many TCP connections wait for a proof. If another one comes, the oldest is refused.
  static constexpr std::size_t kMaxWaiting = 256;

  /// Listens at `address` and completes `handle`. Throws NetError.
  Listener(Address address, const Settings& settings, Counters& counters, Log log, Handle& handle);

  /// The next connection whose streams are all authenticated; null if there is none yet. Throws
  /// NetError if there has been none for the timeout of the settings, counted from the first call
  /// after the last connection.
  std::unique_ptr<Receiver> accept();

 private:
  struct Waiting {
    Descriptor socket;
    Handshake handshake;
    std::string peer;
    Clock::time_point deadline;
  };
  struct Group {  // the authenticated streams of one connection
    std::vector<Descriptor> sockets;
    std::size_t missing;
    Clock::time_point deadline;
  };

  void take_waiting(Clock::time_point now);
  void advance(Clock::time_point now);
  /// Returns false if the connection no longer waits: it is refused, or a stream of a group.
  bool still_waits(Waiting& waiting, Clock::time_point now);
  void join(Waiting& waiting, Clock::time_point now);
  void refuse(const Waiting& waiting, const std::string& reason);

  Descriptor socket_;
  Mac key_;
  std::chrono::seconds timeout_;
  Counters& counters_;
  Log log_;
  std::vector<Waiting> waiting_;  // the oldest first
  std::map<Nonce, Group> groups_;
  Clock::time_point deadline_{};  // of accept(); zero: not called yet
  std::size_t refused_ = 0;       // clients refused since the last connection was accepted
};

}  // namespace trigram::net
