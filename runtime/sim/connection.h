#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <vector>

#include "core/communicator.h"
#include "netmodels/network/tcp.h"
#include "runtime/sim/rendezvous.h"

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
///
/// Where the receiver has to ask for a message (Transport::announces), an announcement takes its
/// place, and the message joins the others when the request for it arrives. Announcements and
/// requests have no bytes and wait for the messages before them. Messages behind one that has not
/// been asked for wait for it, so that receivers get them in order.
class Connection {
 public:
  struct Message {
    simgrid::s4u::CommPtr comm;  // prepared, not started; null for a control message
    double nbytes;               // on the wire
    TrafficClass traffic;
    double cap_Bps;  // what it moves at most
    // Once it has been taken: when that was, and how long until it begins to move.
    double taken_s = 0, latency_s = 0;
    std::function<void()> arrived = {};  // of a control message
  };

  /// `answers`: of TrafficClass::answer.
  Connection(SimStream& sender, int destination, bool answers, simgrid::s4u::Mailbox& mailbox);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  simgrid::s4u::Mailbox& mailbox() const { return mailbox_; }

  // Called by the sender.

  /// Hands a message over. It starts now if it can.
  void send(Message message);
  /// The transport has taken all messages.
  bool all_taken() const {
    return taken_ == queue_.size() && offers_.empty() && !fills_send_buffer_;
  }
  /// Forgets messages that have been delivered. Only the sender's actor may: SimGrid keeps a list
  /// of what each actor has started, which it cleans when that actor waits.
  void forget_delivered();
  /// Returns when all messages have been delivered.
  void flush();

  // Called by anybody.

  /// The receiver has received a message of `nbytes`.
  void received(double nbytes);
  /// Sends a message without bytes, of which nobody but `arrived` hears.
  void send_control(std::function<void()> arrived);
  /// The receiver has asked for the first message that it has not asked for yet.
  void asked_for();
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
    double route_s;     // the latency of its route
    bool delivered() const;
  };
  /// A message that has been announced, or that has to stay behind such a one.
  struct Offer {
    Message message;
    bool asked_for;
  };
  void take_what_fits();
  void start_control(double left_s, std::function<void()> arrived);
  void watch_send_buffer();
  double unsent_bytes() const;
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
  // Of transports that announce messages.
  std::deque<Offer> offers_;
  std::int64_t sent_ = 0;           // messages, in all
  bool control_under_way_ = false;  // and nothing else then
  bool fills_send_buffer_ = false;  // with a message that the sender waits for
  Rendezvous* const rendezvous_;    // null for other transports
};

}  // namespace trigram::sim
