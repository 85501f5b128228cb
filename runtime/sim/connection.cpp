#include "runtime/sim/connection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/sim/stream.h"

namespace trigram::sim {
Connection::Connection(SimStream& sender, int destination, bool for_answers,
                       simgrid::s4u::Mailbox& mailbox)
    : sender_(sender),
      destination_(destination),
      mailbox_(mailbox),
      between_nodes_(!sender.world().layout().same_node(sender.rank(), destination)),
      rate_Bps_(destination == sender.rank()
                    ? sender.world().network().loopback_bandwidth()
                    : sender.world().network().bandwidth(sender.rank(), destination, Rate::burst)),
      fastest_Bps_(rate_Bps_ * sender.world().network().largest_bandwidth_factor()),
      max_in_flight_(between_nodes_ && sender.world().cluster().transport.limits_messages()
                         ? sender.world().cluster().transport.streams
                         : 1),
      busy_s_(between_nodes_ ? sender.world().cluster().transport.per_message_s() : 0),
      constant_latency_s_(sender.world().network().latency(sender.rank(), destination)),
      interruptions_(sender.world().interrupted_connection(sender.rank(), destination)),
      window_(
          between_nodes_ && sender.world().has_windows()
              ? &sender.world().window(sender.receiver(), sender.rank(), destination, for_answers)
              : nullptr),
      rendezvous_(sender.world().announces()
                      ? &sender.world().rendezvous(sender.receiver(), sender.rank(), destination,
                                                   for_answers)
                      : nullptr) {
  if (rendezvous_) rendezvous_->set_sender(*this);
  for (const Outage& outage : interruptions_.outages())
    if (outage.begin_s >= Simulation::clock())
      sender.world().simulation().at(outage.begin_s, [this] { interrupt(); });
}

/// Stops the messages that move when an outage begins, until the connection sends again. A message
/// whose latency has not ended then does not move, and `start` has added the time to its latency.
void Connection::interrupt() {
  if (stopped_until_s_ > Simulation::clock()) return;  // as an earlier outage has stopped it
  std::vector<simgrid::s4u::CommPtr> stopped;
  for (const Started& s : started_)
    if (!s.delivered() && s.earliest_s <= Simulation::clock()) stopped.push_back(s.comm);
  if (stopped.empty()) return;
  stopped_until_s_ = interruptions_.stop(Simulation::clock());
  Simulation& simulation = sender_.world().simulation();
  for (const simgrid::s4u::CommPtr& comm : stopped) simulation.suspend(*comm);
  simulation.at(stopped_until_s_, [stopped, &simulation] {
    for (const simgrid::s4u::CommPtr& comm : stopped) simulation.resume(*comm);
  });
}

/// The date from which messages that move now can continue.
double Connection::resumes_s() const { return std::max(Simulation::clock(), stopped_until_s_); }

/// The latency of the route at the current date.
double Connection::latency_s() const {
  World& world = sender_.world();
  if (world.network().profile().empty()) return constant_latency_s_;
  return world.latency(Simulation::clock(), sender_.rank(), destination_);
}

void Connection::send(Message message) {
  const std::int64_t number = sent_++;
  const bool announces =
      between_nodes_ && sender_.world().cluster().transport.announces(message.nbytes);
  if (announces || !offers_.empty()) {
    offers_.push_back({std::move(message), !announces});
    if (announces)
      send_control([this, number] {
        const SimStream* receiver = sender_.world().find_stream(sender_.receiver(), destination_);
        rendezvous_->announced(number, receiver && receiver->communicator().in_call());
      });
    return;
  }
  queue_.push_back(std::move(message));
  advance();
}

void Connection::send_control(std::function<void()> arrived) {
  queue_.push_back({.comm = nullptr,
                    .nbytes = 0,
                    .traffic = TrafficClass::collective,
                    .cap_Bps = std::numeric_limits<double>::infinity(),
                    .arrived = std::move(arrived)});
  advance();
}

void Connection::request_arrived() {
  std::ranges::find(offers_, false, &Offer::requested)->requested = true;
  while (!offers_.empty() && offers_.front().requested) {
    queue_.push_back(std::move(offers_.front().message));
    offers_.pop_front();
  }
  advance();
  watch_send_buffer();
}

/// The simulation moves a byte one latency after it has left.
double Connection::unsent_bytes() const {
  double bytes = 0;
  for (const Message& m : queue_) bytes += m.nbytes;
  for (const Started& s : started_) {
    const double left = s.comm->get_remaining();
    const double begun_s = Simulation::clock() - (s.earliest_s - s.route_s);
    bytes += left - std::min(left, rate_Bps_ * std::clamp(begun_s, 0.0, s.route_s));
  }
  return bytes;
}

/// Acknowledgements open the window while a message moves (RFC 5681, section 3.1).
double Connection::window_bytes() const {
  const Transport& transport = sender_.world().cluster().transport;
  const double streams = static_cast<double>(transport.total_streams(TrafficClass::collective));
  const double most = transport.tcp.window_bytes;
  if (!window_ || !transport.tcp.slow_start) return streams * most;
  const auto moving = std::ranges::find(started_, false, &Started::delivered);
  if (moving == started_.end()) return streams * window_->open_bytes();
  const double acknowledged = moving->nbytes - moving->comm->get_remaining();
  return std::min(streams * most, streams * moving->window_bytes + acknowledged);
}

/// The kernel has accepted a message when the rest that has not left fits into the send buffer. The
/// rate at which bytes leave is not known in advance, so this function checks again at the earliest
/// possible date.
void Connection::watch_send_buffer() {
  constexpr double kByte = 1, kMaxChecks = 1000;
  const double buffer =
      sender_.world().cluster().transport.send_buffer_bytes(rate_Bps_, constant_latency_s_);
  const double unsent = unsent_bytes();
  fills_send_buffer_ = unsent > buffer + kByte;
  if (!fills_send_buffer_) {
    if (all_accepted()) sender_.wake();
    return;
  }
  const double wait_s = std::max(unsent - buffer, unsent / kMaxChecks) / fastest_Bps_;
  sender_.world().simulation().at(resumes_s() + wait_s, [this] { watch_send_buffer(); });
}

void Connection::accept_messages() {
  World& world = sender_.world();
  const Transport& transport = world.cluster().transport;
  while (accepted_ < queue_.size()) {
    Message& message = queue_[accepted_];
    if (!transport.accepts(held_messages_, held_bytes_, message.nbytes, message.traffic)) return;
    ++accepted_;
    if (message.comm) ++held_messages_;
    held_bytes_ += message.nbytes;
    message.accepted_s = Simulation::clock();
    message.latency_s = world.latency_factor() * latency_s();
    if (window_ && message.comm) apply_window(message);
  }
}

/// The current bandwidth of varying links, relative to the described bandwidth.
double Connection::bandwidth_factor() const {
  double factor = 1;
  for (const LinkChange& change : sender_.world().network().profile())
    if (change.at_s <= Simulation::clock()) factor = change.bandwidth_factor;
  return factor;
}

/// Traffic that reaches only a fraction `share` of the bandwidth is simulated as 1 / share bytes
/// per byte.
void Connection::apply_window(Message& message) {
  const Transport& transport = sender_.world().cluster().transport;
  const double share = transport.efficiency.share(message.traffic);
  const TcpPath path{.streams = static_cast<double>(transport.total_streams(message.traffic)),
                     .rate_Bps = share * std::min(rate_Bps_ * bandwidth_factor(), message.cap_Bps),
                     .round_trip_s = 2 * latency_s(),
                     .busy_s = busy_s_};
  message.window_bytes = std::max(window_->open_bytes(), transport.tcp.initial_window_bytes);
  const auto leaving =
      window_->send(transport.tcp, path, message.accepted_s, share * message.nbytes);
  const double sending_s = leaving.end_s - leaving.begin_s, rate_Bps = message.nbytes / sending_s;
  constexpr double kRounding = 1 - 1e-9;
  if (share * rate_Bps < kRounding * path.rate_Bps) message.cap_Bps = rate_Bps;
  message.latency_s += leaving.begin_s - busy_s_ - message.accepted_s;
}

void Connection::advance() {
  const bool waited = !all_accepted();
  accept_messages();
  while (accepted_ > 0 && can_start()) {
    Message next = std::move(queue_.front());
    queue_.pop_front();
    --accepted_;
    start(next);
  }
  // The arrival of a control message has its own timer.
  if (accepted_ > 0 && !control_in_flight_) sender_.world().simulation().watch(*this);
  if (waited && all_accepted()) sender_.wake();
}

void Connection::start(Message& message) {
  World& world = sender_.world();
  const double now_s = Simulation::clock();
  const double undisturbed_s =
      (message.comm ? busy_s_ : 0) +
      (now_s == message.accepted_s ? message.latency_s
                                   : std::max(0.0, message.accepted_s + message.latency_s - now_s));
  const double left_s = interruptions_.outages().empty()
                            ? undisturbed_s
                            : interruptions_.end_s(now_s, undisturbed_s) - now_s;
  if (!message.comm) return start_control(left_s, std::move(message.arrived));
  if (std::isfinite(message.cap_Bps)) message.comm->set_rate(message.cap_Bps);
  world.simulation().start(*message.comm, left_s / world.latency_factor());
  started_.push_back(
      {std::move(message.comm), now_s + left_s, latency_s(), message.nbytes, message.window_bytes});
}

void Connection::start_control(double left_s, std::function<void()> arrived) {
  if (left_s <= 0) return arrived();
  control_in_flight_ = true;
  sender_.world().simulation().at(Simulation::clock() + left_s, [this, arrived] {
    control_in_flight_ = false;
    arrived();
    advance();
    sender_.wake();  // wakes it in case it flushes
  });
}

/// A message without bytes has no bytes left from the start, so the end of its latency is checked
/// as well.
bool Connection::Started::delivered() const {
  constexpr double kRounding = 1 + 1e-12;
  return comm->get_remaining() == 0 && earliest_s <= Simulation::clock() * kRounding;
}

bool Connection::can_start() const {
  if (control_in_flight_) return false;
  return std::ranges::count(started_, false, &Started::delivered) < max_in_flight_;
}

double Connection::next_delivery_s() const {
  double next_s = std::numeric_limits<double>::infinity();
  for (const Started& s : started_)
    if (!s.delivered())
      next_s = std::min(
          next_s, std::max(s.earliest_s, resumes_s() + s.comm->get_remaining() / fastest_Bps_));
  return next_s;
}

void Connection::received(double nbytes) {
  --held_messages_;
  held_bytes_ -= nbytes;
  if (!queue_.empty()) advance();
}

/// Other actors may start messages while this actor waits, even if it waits only for delivered
/// messages.
void Connection::forget_delivered() {
  std::vector<simgrid::s4u::CommPtr> delivered;
  std::erase_if(started_, [&](const Started& s) {
    if (!s.delivered()) return false;
    delivered.push_back(s.comm);
    return true;
  });
  for (const simgrid::s4u::CommPtr& comm : delivered) {
    comm->wait();
    sender_.world().halt_if_ended();
  }
}

void Connection::flush() {
  while (true) {
    while (!started_.empty()) {
      const simgrid::s4u::CommPtr first = started_.front().comm;
      first->wait();
      sender_.world().halt_if_ended();
      std::erase_if(started_, [&](const Started& s) { return s.comm == first; });
    }
    if (!rendezvous_ || queue_.empty()) return;
    // Messages behind a control message start when the control message has arrived.
    sender_.block({.kind = Wait::receiver, .peer = destination_},
                  [&] { return queue_.empty() || !started_.empty(); });
  }
}

}  // namespace trigram::sim
