#pragma once

#include <cstdint>
#include <deque>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <vector>

#include "core/communicator.h"
#include "netmodels/tcp.h"

namespace trigram::sim {

class SimStream;

/// One direction between two ranks on one stream, as an eager transport has it: messages leave one
/// after another, in order, whether their receiver has asked for them or not. The transport takes
/// what its buffer has room for (Transport::takes); room comes back when the receiver has received.
///
/// A message that follows another pays its latency while that one is still being transmitted: it
/// begins to move when its own latency is over and the one before has arrived, after the time that
/// the connection is busy with it (Transport::per_message_s). Where it has to wait for the window
/// meanwhile, it moves as slowly as makes up for that.
class Connection {
 public:
  struct Message {
    simgrid::s4u::CommPtr comm;  // prepared, not started
    double nbytes;               // on the wire
    Pattern pattern;
    double cap_Bps;  // what it moves at most
    // Once it has been taken: when that was, and how long until it begins to move.
    double taken_s = 0, latency_s = 0;
  };

  /// `answers`: of Pattern::answer.
  Connection(SimStream& sender, int destination, bool answers, simgrid::s4u::Mailbox& mailbox);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  simgrid::s4u::Mailbox& mailbox() const { return mailbox_; }

  // Called by the sender.

  /// Hands a message over. It starts now if it can.
  void send(Message message);
  /// The transport has taken all messages.
  bool all_taken() const { return taken_ == queue_.size(); }
  /// Forgets messages that have been delivered. Only the sender's actor may: SimGrid keeps a list
  /// of what each actor has started, which it cleans when that actor waits.
  void forget_delivered();
  /// Returns when all messages have been delivered.
  void flush();

  // Called by anybody.

  /// The receiver has received a message of `nbytes`.
  void received(double nbytes);
  /// Starts what can start.
  void advance();
  /// Another message can start: as few are under way as the connection carries beside each other.
  bool idle() const;
  /// No message is delivered before this date.
  double next_delivery_s() const;
  /// Messages that have been taken and not received.
  std::int64_t held() const { return held_messages_; }

  int destination() const { return destination_; }
  bool watched = false;  // by the DeliveryWatch

 private:
  struct Started {
    simgrid::s4u::CommPtr comm;
    double earliest_s;  // before which it is not delivered, since its latency is not over
    bool delivered() const;
  };
  void take_what_fits();
  void pass_window(Message& message);
  void start(Message& message);
  double latency_s() const;
  double bandwidth_factor() const;

  SimStream& sender_;
  const int destination_;
  simgrid::s4u::Mailbox& mailbox_;
  const bool between_nodes_;
  const double rate_Bps_;       // of a message that is alone
  const double fastest_Bps_;    // while links that vary are at their widest
  const std::int64_t at_once_;  // messages that travel beside each other
  const double busy_s_;         // before the bytes of a message leave
  const double own_latency_s_;  // where that does not change
  std::deque<Message> queue_;
  std::size_t taken_ = 0;           // of the queue, from its front
  std::vector<Started> started_;    // and not forgotten
  std::int64_t held_messages_ = 0;  // taken, not received
  double held_bytes_ = 0;
  TcpWindow* const window_;  // null where messages need not wait for one
};

}  // namespace trigram::sim
