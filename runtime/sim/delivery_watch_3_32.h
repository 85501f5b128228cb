#pragma once

#include <queue>
#include <simgrid/kernel/resource/Model.hpp>
#include <vector>

namespace trigram::sim {

class Connection;

/// Starts the next message of a connection when the previous message is delivered. It is a model in
/// the sense of SimGrid's engine, which calls its models whenever time has passed. SimGrid itself
/// reports a delivery only to actors that wait for the message, and the receiver may begin to wait
/// much later.
class DeliveryWatch final : public simgrid::kernel::resource::Model {
 public:
  DeliveryWatch() : Model("deliveries") {}

  /// Calls `connection.advance()` once, as soon as the connection can start another message.
  void add(Connection& connection);

  /// Deliveries are events of SimGrid's own network model, so this model has none.
  double next_occurring_event(double) override { return -1; }
  void update_actions_state(double now, double delta) override;

 private:
  struct Due {
    double earliest_s;
    unsigned long number;  // keeps the order of connections with equal dates
    Connection* connection;
    bool operator>(const Due& other) const {
      return earliest_s != other.earliest_s ? earliest_s > other.earliest_s : number > other.number;
    }
  };
  void push(Connection& connection);

  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  unsigned long numbers_ = 0;
};

}  // namespace trigram::sim
