#include "runtime/sim/rendezvous.h"

#include "runtime/sim/connection.h"

namespace trigram::sim {

/// The sender advances first: if an announcement directly follows a message, it arrives with that
/// message, before the receiver continues.
void Rendezvous::post_receive(Connection& to_sender) {
  if (sender_) sender_->advance();
  ++posted_;
  to_sender_ = &to_sender;
  request_posted();
}

void Rendezvous::announced(std::int64_t number, bool in_call) {
  announced_.push_back(number);
  if (in_call) read();
}

void Rendezvous::read() {
  read_ = announced_.size();
  request_posted();
}

void Rendezvous::request_posted() {
  while (read_ > 0 && announced_.front() < posted_) {
    announced_.pop_front();
    --read_;
    to_sender_->send_control([sender = sender_] { sender->request_arrived(); });
  }
}

}  // namespace trigram::sim
