#pragma once

#include <cstdint>
#include <deque>

namespace trigram::sim {

class Connection;

/// The announced messages of one direction between two ranks on one stream, for transports whose
/// receivers request messages (Transport::announces). Messages are numbered in the order of sending
/// and receives in the order of posting; both orders are the same.
class Rendezvous {
 public:
  /// Sets the connection that sends the messages.
  void set_sender(Connection& sender) { sender_ = &sender; }
  /// Called when the receiver posts its next receive. `to_sender` is the receiver's connection to
  /// the sender, on which it sends requests.
  void post_receive(Connection& to_sender);
  /// Called when the announcement of message `number` reaches the receiver. If the receiver is in a
  /// call of its communicator, it reads the announcement now; otherwise in its next call, after the
  /// sends of that call.
  void announced(std::int64_t number, bool in_call);
  /// Called when the receiver reads the announcements that have arrived.
  void read();

 private:
  void request_posted();

  std::int64_t posted_ = 0;
  std::deque<std::int64_t> announced_;  // message numbers that are not requested yet
  std::size_t read_ = 0;  // number of announcements read, from the front of announced_
  Connection* sender_ = nullptr;
  Connection* to_sender_ = nullptr;
};

}  // namespace trigram::sim
