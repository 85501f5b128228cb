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

/// One direction between two ranks on one stream, for an eager transport. Messages leave one after
/// another, in order, whether or not their receives are posted. The transport accepts a message if
/// its buffer has room (Transport::takes); the room is freed when the message is received.
///
/// The latency of a message overlaps with the transmission of the message before it. A message
/// begins to move when its own latency has passed and the message before it has arrived, after the
/// time that the connection spends on it (Transport::per_message_s). If it has to wait for the TCP
/// window while it moves, its rate is reduced so that its duration includes the waits.
///
/// If the receiver has to request a message (Transport::announces), an announcement is sent in its
/// place, and the message joins the queue when the request for it arrives. Announcements and
/// requests have no bytes and wait for the messages before them. Messages behind a message that has
/// not been requested wait for it, so that receivers get them in order.
class Connection {
 public:
  struct Message {
    simgrid::s4u::CommPtr comm;  // prepared, not started; null for a control message
    double nbytes;               // on the wire
    TrafficClass traffic;
    double cap_Bps;  // largest rate of this message
    // Set when the message is accepted: the time, and the delay until it begins to move.
    double taken_s = 0, latency_s = 0;
    std::function<void()> arrived = {};  // called when a control message arrives
  };

  /// `answers` is true for the connection of TrafficClass::answer.
  Connection(SimStream& sender, int destination, bool answers, simgrid::s4u::Mailbox& mailbox);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  simgrid::s4u::Mailbox& mailbox() const { return mailbox_; }

  // Called by the sender.

  /// Hands a message over. It starts now if possible.
  void send(Message message);
  /// True if the transport has accepted all messages.
  bool all_taken() const {
    return taken_ == queue_.size() && offers_.empty() && !fills_send_buffer_;
  }
  /// Drops messages that have been delivered. Only the sender's actor may call it: SimGrid keeps a
  /// list of the activities that each actor has started, and cleans it when that actor waits.
  void forget_delivered();
  /// Returns when all messages have been delivered.
  void flush();

  // Called by any actor.

  /// Called when the receiver has received a message of `nbytes`.
  void received(double nbytes);
  /// Sends a message without bytes and calls `arrived` when it arrives; the receiver's communicator
  /// does not see it.
  void send_control(std::function<void()> arrived);
  /// Called when a request arrives; it is for the first message that was not requested before.
  void asked_for();
  /// Accepts and starts as many messages as possible.
  void advance();
  /// True if another message can start, because fewer are in flight than the connection carries at
  /// once.
  bool idle() const;
  /// A lower bound for the date of the next delivery.
  double next_delivery_s() const;
  /// Number of messages that were accepted and have not been received.
  std::int64_t held() const { return held_messages_; }

  int destination() const { return destination_; }
  bool watched = false;  // by DeliveryWatch

 private:
  struct Started {
    simgrid::s4u::CommPtr comm;
    double earliest_s;  // end of its latency; it is not delivered before
    double route_s;     // latency of its route
    bool delivered() const;
  };
  /// An announced message, or a message that has to stay behind one.
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
  const double rate_Bps_;       // of a message without competition
  const double fastest_Bps_;    // while varying links are at their widest
  const std::int64_t at_once_;  // messages that travel at the same time
  const double busy_s_;         // time before the bytes of a message leave
  const double own_latency_s_;  // latency if it does not change
  std::deque<Message> queue_;
  std::size_t taken_ = 0;           // number of accepted messages at the front of the queue
  std::vector<Started> started_;    // except those forgotten
  std::int64_t held_messages_ = 0;  // accepted and not received
  double held_bytes_ = 0;
  TcpWindow* const window_;  // null if there is no window to wait for
  // Only for transports that announce messages:
  std::deque<Offer> offers_;
  std::int64_t sent_ = 0;           // number of messages so far
  bool control_under_way_ = false;  // nothing else is in flight then
  bool fills_send_buffer_ = false;  // a message that the sender waits for is still in it
  Rendezvous* const rendezvous_;    // null for other transports
};

}  // namespace trigram::sim
