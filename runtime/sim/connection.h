#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <vector>

#include "core/communicator.h"
#include "netmodels/network/tcp.h"
#include "netmodels/partitions.h"
#include "runtime/sim/rendezvous.h"

namespace trigram::sim {

class SimStream;

/// One direction between two ranks on one stream, for an eager transport. Messages leave one after
/// another, in order, whether or not their receives are posted. The transport accepts a message if
/// its buffer has room (Transport::accepts), and frees the room when the message is received.
///
/// The latency of a message overlaps with the transmission of the message before it. A message
/// begins to move when its own latency has passed and the message before it has arrived, and then
/// the connection has spent Transport::per_message_s on it. If it has to wait for the TCP window
/// while it moves, its rate is reduced so that its duration includes these waits.
///
/// If partitions cut its route, the connection stops for a time (InterruptedConnection).
///
/// If the receiver has to request a message (Transport::announces), an announcement is sent in its
/// place, and the message joins the queue when the request for it arrives. Announcements and
/// requests have no bytes and wait for the messages before them. A message that has not been
/// requested also delays the messages behind it, so that receivers get them in order.
class Connection {
 public:
  struct Message {
    simgrid::s4u::CommPtr comm;  // prepared, not started; null for a control message
    double nbytes;               // bytes on the wire
    TrafficClass traffic;
    double cap_Bps;  // largest rate of this message, in bytes per second
    // The date at which the message was accepted, and the delay from then until it begins to move.
    double accepted_s = 0, latency_s = 0;
    double window_bytes = 0;             // of a stream when the message was accepted
    std::function<void()> arrived = {};  // called when a control message arrives
  };

  /// `for_answers` is true for the connection that carries TrafficClass::answer.
  Connection(SimStream& sender, int destination, bool for_answers, simgrid::s4u::Mailbox& mailbox);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  simgrid::s4u::Mailbox& mailbox() const { return mailbox_; }

  // The following functions are called by the sender.

  /// Adds a message. It starts now if possible.
  void send(Message message);
  /// True if the transport has accepted all messages.
  bool all_accepted() const {
    return accepted_ == queue_.size() && offers_.empty() && !fills_send_buffer_;
  }
  /// Drops messages that have been delivered. Only the sender's actor may call it, because SimGrid
  /// keeps a list of the activities that each actor has started, and cleans it when that actor
  /// waits.
  void forget_delivered();
  /// Returns when all messages have been delivered.
  void flush();

  // The following functions may be called by any actor.

  /// Call when the receiver has received a message of `nbytes` bytes.
  void received(double nbytes);
  /// Sends a message without bytes and calls `arrived` when it arrives; the receiver's communicator
  /// does not see it.
  void send_control(std::function<void()> arrived);
  /// Call when a request arrives: a request for the first message that was not requested before.
  void request_arrived();
  /// Accepts and starts as many messages as possible.
  void advance();
  /// True if another message can start, because fewer messages are in flight than the connection
  /// can carry at once.
  bool can_start() const;
  /// A lower bound for the date of the next delivery.
  double next_delivery_s() const;
  /// Bytes that have not left the sender yet, of all messages.
  double unsent_bytes() const;
  /// The most bytes that the connection has in the network at a time; infinite without a window.
  double window_bytes() const;
  bool between_nodes() const { return between_nodes_; }
  /// Number of messages that were accepted and have not been received.
  std::int64_t held() const { return held_messages_; }

  int destination() const { return destination_; }
  bool watched = false;  // true while DeliveryWatch has this connection

 private:
  struct Started {
    simgrid::s4u::CommPtr comm;
    double earliest_s;            // time at which its latency ends; it is not delivered before
    double route_s;               // latency of its route
    double nbytes, window_bytes;  // as in Message
    bool delivered() const;
  };
  /// An announced message, or a message that must not overtake an announced message.
  struct Offer {
    Message message;
    bool requested;
  };
  void accept_messages();
  void start_control(double left_s, std::function<void()> arrived);
  void watch_send_buffer();
  void apply_window(Message& message);
  void interrupt();
  double resumes_s() const;
  void start(Message& message);
  double latency_s() const;
  double bandwidth_factor() const;

  SimStream& sender_;
  const int destination_;
  simgrid::s4u::Mailbox& mailbox_;
  const bool between_nodes_;
  const double rate_Bps_;             // bandwidth of a message that shares no link
  const double fastest_Bps_;          // the same while varying links have their largest bandwidth
  const std::int64_t max_in_flight_;  // number of messages that travel at the same time
  const double busy_s_;               // seconds before the bytes of a message leave
  const double constant_latency_s_;   // latency if it is constant
  InterruptedConnection interruptions_;
  double stopped_until_s_ = 0;  // messages that an outage has stopped go on then
  std::deque<Message> queue_;
  std::size_t accepted_ = 0;        // number of accepted messages at the front of the queue
  std::vector<Started> started_;    // except delivered messages that were dropped
  std::int64_t held_messages_ = 0;  // accepted but not received
  double held_bytes_ = 0;
  TcpWindow* const window_;  // null if messages do not wait for a window
  // The following members are only for transports that announce messages.
  std::deque<Offer> offers_;
  std::int64_t sent_ = 0;  // number of messages so far
  /// True while a control message is in flight; nothing else is in flight then.
  bool control_in_flight_ = false;
  /// Part of a message for which the sender waits is still in the send buffer.
  bool fills_send_buffer_ = false;
  Rendezvous* const rendezvous_;  // null for other transports
};

}  // namespace trigram::sim
