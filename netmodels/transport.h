#pragma once

#include <cstdint>
#include <limits>

#include "core/communicator.h"
#include "core/config/fields.h"
#include "netmodels/network/tcp.h"
#include "netmodels/variation.h"

namespace trigram {

/// Fraction of the bandwidth of inter-node links that a traffic pattern reaches, relative to rings
/// and other collectives over all workers of nodes, which reach 1. Fair sharing of links alone does
/// not explain such differences; colliding flows in switch buffers and at receivers do.
struct Efficiency {
  double leaders = 1, all_to_all = 1, point_to_point = 1, server = 1;
  double of(TrafficClass traffic) const;
  /// True if any pattern reaches less than 1.
  bool matters() const;
};

/// Overheads and limits that protocols and their software impose on the network between nodes. By
/// default there are none. Messages inside a node are exempt.
struct Transport {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  /// When a send completes.
  ///
  /// eager: as soon as the transport has taken the message, which it does while what it holds of
  /// the connection (sent but not yet received) leaves room for it. Messages of a connection leave
  /// one after another, whether their receives are posted or not. NCCL does this over sockets: a
  /// send completes when the kernel has its bytes (src/transport/net_socket.cc), receives are
  /// posted ahead (src/transport/net.cc), and a channel has a buffer of 8 slots. Open MPI sends
  /// messages up to its eager limit like this (btl_tcp_eager_limit).
  ///
  /// rendezvous: when the message has been delivered; bytes flow once send and receive are posted.
  /// MPI does this with long messages, whose receives algorithms do not post ahead.
  ///
  /// open_mpi: as soon as the kernel has the message, which is at once up to the eager limit. Above
  /// it Open MPI over TCP announces the message, its receiver requests it when the receive is
  /// posted, and then the data are sent as a whole (mca_pml_ob1_send_request_start_rdma,
  /// mca_pml_ob1_recv_request_schedule and mca_btl_tcp_put of Open MPI 4.1). All of this goes in
  /// order over the one socket between two ranks, so a request waits behind data in the same
  /// direction (mca_btl_tcp_endpoint_send).
  enum class Protocol { eager, rendezvous, open_mpi } protocol = Protocol::eager;
  /// For open_mpi: the longest message that is sent without a request, including Open MPI's header
  /// (btl_tcp_eager_limit).
  double eager_limit_bytes = 65'536;
  /// The longest header of Open MPI's messages, which it subtracts from the limit for every message
  /// (mca_pml_ob1_send_request_start_btl: btl_eager_limit - sizeof(mca_pml_ob1_hdr_t)). So a
  /// message of 64 KiB exceeds a limit of 64 KiB.
  static constexpr double kOpenMpiHeader_bytes = 56;
  /// What an eager transport holds of a connection: bytes per channel, and messages. A message
  /// longer than the buffer is taken when nothing else is held. The default is the buffer of an
  /// NCCL channel (NCCL_BUFFSIZE, 4 MiB).
  double buffer_bytes = 4.0 * 1024 * 1024;
  std::int64_t slots = 0;  // 0: unlimited
  /// Fraction of every link's bandwidth that is left for payload after headers.
  double goodput = 1;
  /// Most bytes per second, in each direction, that a node's software moves, whatever its NICs can
  /// do.
  double node_cap_Bps = kNone;
  /// Bytes per second of one connection: all messages in flight from one worker to another.
  double connection_cap_Bps = kNone;
  /// Streams (sockets) per connection. Every message is split evenly over them, or, with
  /// `slice_bytes`, into slices no shorter than that, which go to the streams in turn, continuing
  /// from message to message (Bagua-Net, rust/bagua-net/src/utils.rs `chunk_size`). A message of
  /// one slice then uses one stream, and as many messages as there are streams travel side by side.
  std::int64_t streams = 1;
  double slice_bytes = 0;
  /// Connections between two workers over which a message of a ring or tree is split evenly, like
  /// NCCL's channels; all other patterns use one of them.
  std::int64_t channels = 1;
  /// Bytes per second of one stream.
  double stream_cap_Bps = kNone;
  /// Variation of connections and of node software: the standard deviation of the logarithm of
  /// their caps, constant in time. The caps are those of the median.
  double variation = 0;
  /// The windows of streams; by default there are none, as over RDMA.
  Tcp tcp = {};
  /// Fraction of packets that are lost. A stream moves at most loss_constant / sqrt(loss) segments
  /// per round trip (Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP
  /// congestion avoidance algorithm", CCR 27(3), 1997, doi:10.1145/263932.264023). The constant
  /// depends on the pattern of losses and acknowledgements: sqrt(3/2) for evenly spaced losses and
  /// an acknowledgement per packet.
  double loss = 0, loss_constant = 1.22;
  double segment_bytes = 1448;  // Ethernet's 1,500 less headers with timestamps
  /// Seconds that the sender's stream is busy with each batch of messages that are sent together (a
  /// stage of a collective), before they leave.
  double stage_overhead_s = 0;
  /// Seconds that a connection is busy with each message before its bytes leave; and, additionally,
  /// with each part of a split message, since a sender with one stream need not distribute parts
  /// and wait for all of them. With rendezvous the sender's stream spends this time.
  double message_overhead_s = 0, stream_overhead_s = 0;

  Efficiency efficiency = {};

  /// Most bytes per second for a pattern's messages on this connection, if its route has this
  /// latency: all messages between two workers together, or one of several connections.
  double connection_Bps(const NodeConnection& connection, double latency_s, TrafficClass traffic,
                        Rate rate) const;
  /// Number of streams that carry one message of `nbytes`: one per slice.
  std::int64_t streams_of(double nbytes) const;
  /// Most bytes per second of one message of `nbytes` on this connection, whose longest slice uses
  /// a single stream. `connection_Bps` also limits it, together with concurrent messages.
  double message_Bps(const NodeConnection& connection, double latency_s, TrafficClass traffic,
                     double nbytes, Rate rate) const;
  /// True if a message may be slower than its connection.
  bool limits_messages() const { return streams > 1 && slice_bytes > 0; }
  /// True if there is any such limit.
  bool limits_connections(Rate rate) const;
  /// Streams of all connections that a traffic pattern has between two workers.
  std::int64_t all_streams(TrafficClass traffic) const;
  /// True if messages are sent on connections and the sender does not wait for their delivery.
  bool has_connections() const { return protocol != Protocol::rendezvous; }
  /// True if the receiver of a message between nodes has to request it.
  bool announces(double nbytes) const {
    return protocol == Protocol::open_mpi && nbytes + kOpenMpiHeader_bytes > eager_limit_bytes;
  }
  /// Bytes that the kernel buffers of a socket before they leave, on a route of this rate and
  /// latency: twice the congestion window (tcp_sndbuf_expand, net/ipv4/tcp_input.c). The congestion
  /// window is assumed to fill the route, within the bounds of the initial and the full window.
  double send_buffer_bytes(double rate_Bps, double latency_s) const;
  /// True if an eager connection that holds so many messages and bytes takes another one of
  /// `nbytes`.
  bool takes(std::int64_t held_messages, double held_bytes, double nbytes,
             TrafficClass traffic) const;
  /// The most messages of `nbytes` that an eager connection holds.
  std::int64_t held_at_once(double nbytes, TrafficClass traffic) const;
  /// Seconds that a connection is busy with each message before its bytes leave.
  double per_message_s() const;
  /// Seconds that the sender's stream is busy with `messages` messages that leave together.
  double overhead_s(int messages) const;

 private:
  /// Number of connections between two workers that a traffic pattern uses.
  std::int64_t channels_of(TrafficClass traffic) const {
    return is_collective(traffic) ? channels : 1;
  }
  /// Bytes of the longest part of a message that one stream carries.
  double longest_slice(double nbytes) const;
  /// Bytes per second of one stream on a route of this latency.
  double stream_Bps(double latency_s, Rate rate) const;
};

FieldTable<Transport> transport_fields();

}  // namespace trigram
