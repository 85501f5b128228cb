#pragma once

#include <queue>
#include <simgrid/kernel/resource/Model.hpp>
#include <vector>

namespace trigram::sim {

class Connection;

/// Starts the next message of a connection at the date at which the one before it is delivered: a
/// model of SimGrid's engine, which asks its models whenever time has passed. SimGrid itself says
/// that a message has been delivered only to actors that wait for it, and its receiver may come
/// later.
class DeliveryWatch final : public simgrid::kernel::resource::Model {
 public:
  DeliveryWatch() : Model("deliveries") {}

  /// Calls `connection.advance()` as soon as its message under way has been delivered, once.
  void add(Connection& connection);

  /// Deliveries are events of SimGrid's own network model.
  double next_occurring_event(double) override { return -1; }
  void update_actions_state(double now, double delta) override;

 private:
  struct Due {
    double earliest_s;
    unsigned long number;  // equal dates come in order
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
