#include "runtime/sim/delivery_watch_3_32.h"

#include "runtime/sim/connection.h"

namespace trigram::sim {

void DeliveryWatch::add(Connection& connection) {
  if (connection.watched) return;
  connection.watched = true;
  push(connection);
}

void DeliveryWatch::push(Connection& connection) {
  // Because of rounding, the bound may be slightly after the date of the delivery.
  constexpr double kRounding = 1 - 1e-12;
  due_.push({kRounding * connection.next_delivery_s(), numbers_++, &connection});
}

void DeliveryWatch::update_actions_state(double now, double) {
  std::vector<Connection*> early;
  while (!due_.empty() && due_.top().earliest_s <= now) {
    Connection& connection = *due_.top().connection;
    due_.pop();
    if (!connection.can_start()) {
      early.push_back(&connection);
      continue;
    }
    connection.watched = false;
    connection.advance();
  }
  for (Connection* connection : early) push(*connection);
}

}  // namespace trigram::sim
