#include "netmodels/transport.h"

#include <algorithm>
#include <cmath>

#include "core/config/option_type.h"

namespace trigram {
namespace {

/// A limit that is dumped only if it is finite.
OptionType<double> limit(Dimension dimension) {
  return dumped_if(quantity(dimension, true), [](double value) { return std::isfinite(value); });
}

/// Parameter-server libraries queue their sends in their own memory, so these sends never block.
bool is_queued(TrafficClass traffic) {
  return traffic == TrafficClass::server || traffic == TrafficClass::answer;
}

FieldTable<Efficiency> efficiency_fields() {
  const OptionType<double> share = number(0, 1, Open::below);
  return FieldTable<Efficiency>{}
      .field("leaders", &Efficiency::leaders, share,
             "share that rings and trees among the leaders of nodes with several workers get")
      .field("all_to_all", &Efficiency::all_to_all, share,
             "share that exchanges of every worker with every other get")
      .field("point_to_point", &Efficiency::point_to_point, share,
             "share that exchanges with peers of a graph and in pairs get")
      .field("server", &Efficiency::server, share,
             "share that exchanges with parameter servers get");
}

}  // namespace

double Efficiency::share(TrafficClass traffic) const {
  switch (traffic) {
    case TrafficClass::collective: return 1;
    case TrafficClass::leaders: return leaders;
    case TrafficClass::all_to_all: return all_to_all;
    case TrafficClass::point_to_point: return point_to_point;
    case TrafficClass::server:
    case TrafficClass::answer: return server;
  }
  return 1;
}

bool Efficiency::reduces_any() const {
  return std::min({leaders, all_to_all, point_to_point, server}) < 1;
}

double Transport::stream_Bps(double latency_s, Rate rate) const {
  if (latency_s == 0) return stream_cap_Bps;
  double round_trip_bytes = rate == Rate::sustained ? tcp.window_bytes : kUnlimited;
  if (loss > 0)
    round_trip_bytes = std::min(round_trip_bytes, segment_bytes * loss_constant / std::sqrt(loss));
  return std::min(stream_cap_Bps, round_trip_bytes / (2 * latency_s));
}

double Transport::connection_Bps(const NodeConnection& connection, double latency_s,
                                 TrafficClass traffic, Rate rate) const {
  return std::min(connection_cap_Bps * connection_throughput_factor(variation, connection),
                  static_cast<double>(total_streams(traffic)) * stream_Bps(latency_s, rate));
}

std::int64_t Transport::total_streams(TrafficClass traffic) const {
  return streams * channels_of(traffic);
}

bool Transport::accepts(std::int64_t held_messages, double held_bytes, double nbytes,
                        TrafficClass traffic) const {
  if (held_messages == 0 || is_queued(traffic) || protocol == Protocol::open_mpi) return true;
  if (slots > 0 && held_messages >= slots) return false;
  return held_bytes + nbytes <= static_cast<double>(channels_of(traffic)) * buffer_bytes;
}

std::int64_t Transport::max_buffered_messages(double nbytes, TrafficClass traffic) const {
  constexpr double kMany = 1e9;
  if (announces(nbytes)) return 0;
  if (is_queued(traffic) || protocol == Protocol::open_mpi) return static_cast<std::int64_t>(kMany);
  const double buffers_bytes = static_cast<double>(channels_of(traffic)) * buffer_bytes;
  const double fitting = nbytes > 0 ? std::max(1.0, std::floor(buffers_bytes / nbytes)) : kMany;
  return static_cast<std::int64_t>(
      std::min({fitting, kMany, slots > 0 ? static_cast<double>(slots) : kMany}));
}

double Transport::send_buffer_bytes(double rate_Bps, double latency_s) const {
  return 2 *
         std::min(tcp.window_bytes, std::max(tcp.initial_window_bytes, 2 * latency_s * rate_Bps));
}

double Transport::longest_slice_bytes(double nbytes) const {
  const double even = std::ceil(nbytes / static_cast<double>(streams));
  return std::min(nbytes, std::max(even, slice_bytes));
}

std::int64_t Transport::streams_per_message(double nbytes) const {
  if (slice_bytes == 0) return streams;
  if (nbytes <= 0) return 1;
  return static_cast<std::int64_t>(std::ceil(nbytes / longest_slice_bytes(nbytes)));
}

double Transport::message_Bps(const NodeConnection& connection, double latency_s,
                              TrafficClass traffic, double nbytes, Rate rate) const {
  const double all_Bps = connection_Bps(connection, latency_s, traffic, rate);
  if (!limits_messages() || nbytes <= 0) return all_Bps;
  const auto parts = static_cast<double>(channels_of(traffic));
  return std::min(all_Bps,
                  nbytes / longest_slice_bytes(nbytes / parts) * stream_Bps(latency_s, rate));
}

bool Transport::limits_connections(Rate rate) const {
  const bool windows = rate == Rate::sustained && tcp.has_window();
  return windows || connection_cap_Bps != kUnlimited || stream_cap_Bps != kUnlimited || loss > 0;
}

double Transport::per_message_s() const {
  return message_overhead_s + (streams > 1 ? static_cast<double>(streams) * stream_overhead_s : 0);
}

double Transport::overhead_s(int messages) const {
  if (messages == 0) return 0;
  return stage_overhead_s + messages * per_message_s();
}

FieldTable<Transport> transport_fields() {
  using Protocol = Transport::Protocol;
  const auto eager = [](const Transport& t) { return t.protocol == Protocol::eager; };
  const auto open_mpi = [](const Transport& t) { return t.protocol == Protocol::open_mpi; };
  const auto shared = [](const Transport& t) { return t.protocol != Protocol::open_mpi; };
  const std::string one_socket =
      "does not apply to \"protocol\": \"open_mpi\", with which two ranks share one socket; remove "
      "it";
  const auto lossy = [](const Transport& t) { return t.loss > 0; };
  return FieldTable<Transport>{}
      .field("protocol", &Transport::protocol,
             one_of<Protocol>({{"eager", Protocol::eager},
                               {"rendezvous", Protocol::rendezvous},
                               {"open_mpi", Protocol::open_mpi}}),
             "when a send completes. eager: when the transport has accepted the message, as in "
             "NCCL over sockets; rendezvous: when the message is delivered, as for MPI's long "
             "messages; open_mpi: when the kernel has accepted it; Open MPI over TCP hands a long "
             "message to the kernel once the receiver has asked for it")
      .field("buffer", &Transport::buffer_bytes, quantity(Dimension::bytes, true),
             "bytes that an eager transport buffers per connection and channel")
      .only_where(eager, "applies only to \"protocol\": \"eager\"; remove it")
      .field("slots", &Transport::slots, integer(0, 1 << 20),
             "messages that an eager transport buffers per connection; 0: no limit")
      .only_where(eager, "applies only to \"protocol\": \"eager\"; remove it")
      .field("eager_limit", &Transport::eager_limit_bytes, quantity(Dimension::bytes),
             "longest message, with its header of 56 bytes, that Open MPI sends before the "
             "receiver asks for it (btl_tcp_eager_limit)")
      .only_where(open_mpi, "applies only to \"protocol\": \"open_mpi\"; remove it")
      .field("tcp", &Transport::tcp, tcp_kind(),
             "windows of the streams between nodes: \"none\", \"linux\" with its defaults, or an "
             "object with the options that differ from them")
      .refuse("window", "belongs to TCP; expected \"tcp\": {\"window\": ...} instead")
      .field("goodput", &Transport::goodput, number(0, 1, Open::below),
             "share of a link's bandwidth that is left for payload")
      .field("node_cap", &Transport::node_cap_Bps, limit(Dimension::bandwidth),
             "largest rate of the software of a node, in each direction")
      .field("connection_cap", &Transport::connection_cap_Bps, limit(Dimension::bandwidth),
             "largest total rate of the messages from one worker to another")
      .field("streams", &Transport::streams, integer(1, 1024),
             "streams (sockets) of a connection, over which every message is split evenly")
      .only_where(shared, one_socket)
      .field(
          "slice", &Transport::slice_bytes,
          dumped_if(quantity(Dimension::bytes, true), [](double bytes) { return bytes > 0; }),
          "shortest slice: streams take slices of messages in turn, and a shorter message travels "
          "on one stream; by default, messages are split evenly, however short")
      .field("channels", &Transport::channels, integer(1, 1024),
             "connections between two workers over which messages of rings and trees are split "
             "evenly; other traffic uses one")
      .only_where(shared, one_socket)
      .field("stream_cap", &Transport::stream_cap_Bps, limit(Dimension::bandwidth),
             "largest rate of one stream")
      .field(
          "variation", &Transport::variation, number(0, 2),
          "variation of the throughput limits of connections and of nodes: standard deviation of "
          "their logarithm")
      .field("loss", &Transport::loss, number(0, 1, Open::above),
             "share of packets that are lost: a stream moves at most loss_constant / sqrt(loss) "
             "segments per round-trip time")
      .field("loss_constant", &Transport::loss_constant, number(0, 10, Open::below),
             "constant in the formula of `loss`; depends on the pattern of losses and on how "
             "packets are acknowledged")
      .only_where(lossy, "has no effect here; expected a loss above 0 beside it")
      .field("segment", &Transport::segment_bytes, quantity(Dimension::bytes, true),
             "payload of a packet (maximum segment size)")
      .only_where(lossy, "has no effect here; expected a loss above 0 beside it")
      .field("message_overhead", &Transport::message_overhead_s, quantity(Dimension::duration),
             "time that a connection spends on each message before its bytes leave")
      .field("stream_overhead", &Transport::stream_overhead_s, quantity(Dimension::duration),
             "time that a connection spends on each part of a message that is split over streams")
      .field("stage_overhead", &Transport::stage_overhead_s, quantity(Dimension::duration),
             "time that the sender spends on each batch of messages, a stage of a collective")
      .field("efficiency", &Transport::efficiency, nested(efficiency_fields()),
             "shares of the bandwidth that patterns of traffic get, relative to rings");
}

}  // namespace trigram
