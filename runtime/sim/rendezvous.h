#pragma once

#include <cstdint>
#include <deque>

namespace trigram::sim {

class Connection;

/// The announced messages of one direction between two ranks on one stream, where the transport
/// has the receiver ask for them (Transport::announces). Messages are counted in the order in which
/// they are sent, receives in the order in which they are posted; both orders are the same.
class Rendezvous {
 public:
  /// The connection that sends the messages.
  void set_sender(Connection& sender) { sender_ = &sender; }
  /// The receiver posts its next receive; it asks for messages on `asks`, its connection back.
  void post_receive(Connection& asks);
  /// An announcement of message `number` has reached the receiver, which reads it now if it is in a
  /// call of its communicator, else in its next call, after it has sent what that sends.
  void announced(std::int64_t number, bool in_call);
  /// The receiver reads the announcements that have reached it.
  void read();

 private:
  void ask_for_posted();

  std::int64_t posted_ = 0;
  std::deque<std::int64_t> announced_;  // and not asked for
  std::size_t read_ = 0;                // of these, from the front
  Connection* sender_ = nullptr;
  Connection* asks_ = nullptr;
};

}  // namespace trigram::sim
