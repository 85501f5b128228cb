#include "runtime/sim/rendezvous.h"

#include "runtime/sim/connection.h"

namespace trigram::sim {

/// The sender advances first: if an announcement directly follows a message, it arrives with that
/// message, before the receiver continues.
void Rendezvous::post_receive(Connection& asks) {
  if (sender_) sender_->advance();
  ++posted_;
  asks_ = &asks;
  ask_for_posted();
}

void Rendezvous::announced(std::int64_t number, bool in_call) {
  announced_.push_back(number);
  if (in_call) read();
}

void Rendezvous::read() {
  read_ = announced_.size();
  ask_for_posted();
}

void Rendezvous::ask_for_posted() {
  while (read_ > 0 && announced_.front() < posted_) {
    announced_.pop_front();
    --read_;
    asks_->send_control([sender = sender_] { sender->asked_for(); });
  }
}

}  // namespace trigram::sim
