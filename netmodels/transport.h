#pragma once

#include <cstdint>
#include <limits>

#include "core/communicator.h"
#include "core/config/fields.h"
#include "netmodels/network/tcp.h"
#include "netmodels/variation.h"

namespace trigram {

/// Share of the bandwidth of links between nodes that traffic of a pattern gets, where rings and
/// other collectives over all workers of nodes get 1. Fair sharing of links alone does not make
/// such differences; flows that collide in switches' buffers and at receivers do.
struct Efficiency {
  double leaders = 1, all_to_all = 1, point_to_point = 1, server = 1;
  double of(TrafficClass traffic) const;
  /// Whether any pattern gets less than all.
  bool matters() const;
};

/// What protocols and their software take of the network between nodes, and the limits that they
/// set to it. By default nothing. Messages inside a node are free of it.
struct Transport {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  /// When a send is over.
  ///
  /// eager: as soon as the transport has taken the message, which it does while what it holds of
  /// the connection, sent and not yet received, leaves room for it. Messages of a connection leave
  /// one after another, whether their receiver has asked for them or not. It is what NCCL does over
  /// sockets: a send is done when the kernel has its bytes (src/transport/net_socket.cc), receives
  /// are posted ahead (src/transport/net.cc), and a channel has a buffer of 8 slots. Open MPI sends
  /// so what fits its eager limit (btl_tcp_eager_limit).
  ///
  /// rendezvous: when the message has been delivered; bytes flow once both sides are there. It is
  /// what MPI does with long messages, whose receives algorithms do not post ahead.
  ///
  /// open_mpi: as soon as the kernel has the message, which is at once up to its eager limit.
  /// Beyond that Open MPI over TCP announces the message, its receiver asks for it when it has a
  /// receive for it, and then the data goes as a whole (mca_pml_ob1_send_request_start_rdma,
  /// mca_pml_ob1_recv_request_schedule and mca_btl_tcp_put of Open MPI 4.1). All of this goes
  /// in order on the one socket that two ranks have, so a request waits behind data that goes the
  /// same way (mca_btl_tcp_endpoint_send).
  enum class Protocol { eager, rendezvous, open_mpi } protocol = Protocol::eager;
  /// Of open_mpi: the longest message that is sent without being asked for, with Open MPI's header
  /// (btl_tcp_eager_limit).
  double eager_limit_bytes = 65'536;
  /// The longest header of Open MPI's messages, which it takes off the limit whatever header a
  /// message has (mca_pml_ob1_send_request_start_btl: btl_eager_limit - sizeof(mca_pml_ob1_hdr_t)).
  /// So a message of 64 KiB is longer than a limit of 64 KiB allows.
  static constexpr double kOpenMpiHeader_bytes = 56;
  /// What an eager transport holds of a connection: bytes for each channel, and messages. A message
  /// that is longer than the buffer is taken when nothing else is held. The default is NCCL's
  /// buffer of a channel (NCCL_BUFFSIZE, 4 MiB).
  double buffer_bytes = 4.0 * 1024 * 1024;
  std::int64_t slots = 0;  // 0: no limit on their number
  /// Share of every link's bandwidth that is left for payload, after headers.
  double goodput = 1;
  /// Bytes per second, in each direction, that a node's software moves, whatever its NICs could.
  double node_cap_Bps = kNone;
  /// Bytes per second that one connection moves: all messages under way from one worker to another.
  double connection_cap_Bps = kNone;
  /// Streams (sockets) that a connection has. Every message is split evenly over them, or into
  /// slices no shorter than `slice_bytes`, which the streams take in turns, from one message to the
  /// next (Bagua-Net, rust/bagua-net/src/utils.rs `chunk_size`): a message of one slice has one
  /// stream, and as many messages as there are streams travel beside one another.
  std::int64_t streams = 1;
  double slice_bytes = 0;
  /// Connections between two workers over which a message of a ring or tree is split evenly, as
  /// over NCCL's channels; all other patterns use one of them.
  std::int64_t channels = 1;
  /// Bytes per second that one stream moves.
  double stream_cap_Bps = kNone;
  /// How unlike connections are, and the software of nodes: the standard deviation of the logarithm
  /// of what each moves at most, the same at all times. The caps are those of the median one.
  double variation = 0;
  /// The windows of streams; by default none, as over RDMA.
  Tcp tcp = {};
  /// Share of packets that are lost. A stream moves no more than loss_constant / sqrt(loss)
  /// segments per round trip (Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP
  /// congestion avoidance algorithm", CCR 27(3), 1997, doi:10.1145/263932.264023). The constant
  /// depends on how losses come and packets are acknowledged: sqrt(3/2) for losses evenly apart and
  /// every packet.
  double loss = 0, loss_constant = 1.22;
  double segment_bytes = 1448;  // Ethernet's 1,500 less headers with timestamps
  /// Seconds that the sender's stream is busy with each batch of messages that are sent together (a
  /// stage of a collective), before they leave.
  double stage_overhead_s = 0;
  /// Seconds that a connection is busy with each message before its bytes leave; and besides with
  /// each part of a message that is split: who sends on one stream alone need not deal out parts
  /// and wait for all of them. A rendezvous spends them as the sender's
  /// stream.
  double message_overhead_s = 0, stream_overhead_s = 0;

  Efficiency efficiency = {};

  /// What a message of a pattern moves at most on this connection, where its route has this
  /// latency: the limit of all messages between two workers, or of one connection of several.
  double connection_Bps(const NodeConnection& connection, double latency_s, TrafficClass traffic,
                        Rate rate) const;
  /// Streams that carry one message of so many bytes: as many as it has slices.
  std::int64_t streams_of(double nbytes) const;
  /// What one message of so many bytes moves at most on this connection: its longest slice is a
  /// stream's alone. `connection_Bps` limits it as well, together with the messages beside it.
  double message_Bps(const NodeConnection& connection, double latency_s, TrafficClass traffic,
                     double nbytes, Rate rate) const;
  /// Whether a message may be slower than its connection.
  bool limits_messages() const { return streams > 1 && slice_bytes > 0; }
  /// Whether there is any such limit.
  bool limits_connections(Rate rate) const;
  /// Streams of all the connections that traffic of a pattern has between two workers.
  std::int64_t all_streams(TrafficClass traffic) const;
  /// Whether messages are sent on connections, and the sender does not wait for their delivery.
  bool has_connections() const { return protocol != Protocol::rendezvous; }
  /// Whether the receiver of a message between nodes has to ask for it.
  bool announces(double nbytes) const {
    return protocol == Protocol::open_mpi && nbytes + kOpenMpiHeader_bytes > eager_limit_bytes;
  }
  /// Bytes of a socket that the kernel takes before they leave, on a route of this rate and
  /// latency: twice the congestion window (tcp_sndbuf_expand, net/ipv4/tcp_input.c), which is here
  /// as wide as fills the route, at least as wide as it begins and no wider than the window.
  double send_buffer_bytes(double rate_Bps, double latency_s) const;
  /// Whether an eager connection that holds so many messages and bytes takes one more of `nbytes`.
  bool takes(std::int64_t held_messages, double held_bytes, double nbytes,
             TrafficClass traffic) const;
  /// Messages of `nbytes` that an eager connection holds at most.
  std::int64_t held_at_once(double nbytes, TrafficClass traffic) const;
  /// Seconds that a connection is busy with each message before its bytes leave.
  double per_message_s() const;
  /// Seconds that the sender's stream is busy with so many messages that leave together.
  double overhead_s(int messages) const;

 private:
  /// Connections between two workers that traffic of a pattern has.
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
