#pragma once

#include <cstdint>
#include <limits>

#include "core/communicator.h"
#include "core/config/fields.h"
#include "netmodels/network/tcp.h"
#include "netmodels/variation.h"

namespace trigram {

/// The fraction of the bandwidth of inter-node links that each traffic pattern reaches. Rings and
/// other collectives over all workers of nodes reach 1. Fair sharing of links does not explain why
/// other patterns reach less; collisions of flows in switch buffers and at receivers do.
struct Efficiency {
  double leaders = 1, all_to_all = 1, point_to_point = 1, server = 1;
  double share(TrafficClass traffic) const;
  /// True if any pattern reaches less than 1.
  bool reduces_any() const;
};

/// Overheads and limits that protocols and their software impose on messages between nodes, but not
/// on messages inside a node. By default there are none.
struct Transport {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  /// When a send completes.
  ///
  /// eager: as soon as the transport has accepted the message, which it does when its buffer for
  /// the connection has room. The buffer holds the messages that are sent but not yet received.
  /// Messages of a connection leave one after another, whether their receives are posted or not.
  /// NCCL does this over sockets: a send completes when the kernel has its bytes
  /// (src/transport/net_socket.cc), receives are posted ahead (src/transport/net.cc), and a channel
  /// has a buffer of 8 slots. Open MPI sends messages up to its eager limit in this way
  /// (btl_tcp_eager_limit).
  ///
  /// rendezvous: when the message has been delivered; bytes flow once send and receive are posted.
  /// MPI sends long messages in this way, if algorithms do not post their receives ahead.
  ///
  /// open_mpi: as soon as the kernel has the message. A message up to the eager limit goes to the
  /// kernel at once. For a longer message, Open MPI over TCP sends an announcement, the receiver
  /// requests the message when its receive is posted, and then the data are sent as a whole
  /// (mca_pml_ob1_send_request_start_rdma, mca_pml_ob1_recv_request_schedule and mca_btl_tcp_put of
  /// Open MPI 4.1). All of this goes in order over the only socket between two ranks, so a request
  /// waits behind data in the same direction (mca_btl_tcp_endpoint_send).
  enum class Protocol { eager, rendezvous, open_mpi } protocol = Protocol::eager;
  /// For open_mpi: the longest message, including Open MPI's header, that is sent without a
  /// request, in bytes (btl_tcp_eager_limit).
  double eager_limit_bytes = 65'536;
  /// The longest header of Open MPI's messages, which Open MPI subtracts from the limit
  /// (mca_pml_ob1_send_request_start_btl). So a message of 64 KiB exceeds a limit of 64 KiB.
  static constexpr double kOpenMpiHeader_bytes = 56;
  /// The buffer of an eager transport for a connection, in bytes per channel and in messages
  /// (`slots`). A message longer than the buffer is accepted when the buffer is empty. The default
  /// is the buffer of an NCCL channel (NCCL_BUFFSIZE, 4 MiB).
  double buffer_bytes = 4.0 * 1024 * 1024;
  std::int64_t slots = 0;  // messages; 0: unlimited
  /// Fraction of every link's bandwidth that is left for payload after headers.
  double goodput = 1;
  /// The most bytes per second, in each direction, that the software of a node moves.
  double node_cap_Bps = kUnlimited;
  /// The most bytes per second of a connection: of all messages in flight from one worker to
  /// another.
  double connection_cap_Bps = kUnlimited;
  /// Streams (sockets) per connection. If `slice_bytes` is 0, every message is split evenly over
  /// them. Otherwise messages are split into slices of at least `slice_bytes`, which go to the
  /// streams in turn, across messages (Bagua-Net, rust/bagua-net/src/utils.rs `chunk_size`). A
  /// message of one slice then uses one stream, and the next messages can use the other streams at
  /// the same time.
  std::int64_t streams = 1;
  double slice_bytes = 0;
  /// Number of connections between two workers. The messages of rings and trees are split evenly
  /// over them, like over NCCL's channels; all other patterns use one of them.
  std::int64_t channels = 1;
  /// The most bytes per second of one stream.
  double stream_cap_Bps = kUnlimited;
  /// The standard deviation of the logarithm of the caps of connections and of node software.
  /// `connection_cap_Bps` and `node_cap_Bps` are then the medians. Caps do not change in time.
  double variation = 0;
  /// The windows of streams; by default there are none, as over RDMA.
  Tcp tcp = {};
  /// Fraction of packets that are lost. A stream moves at most loss_constant / sqrt(loss) segments
  /// per round trip (Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP
  /// congestion avoidance algorithm", CCR 27(3), 1997, doi:10.1145/263932.264023). The constant
  /// depends on the pattern of losses and acknowledgements. It is sqrt(3/2) for evenly spaced
  /// losses and one acknowledgement per packet.
  double loss = 0, loss_constant = 1.22;
  double segment_bytes = 1448;  // bytes: Ethernet's 1,500 minus headers with timestamps
  /// Seconds that the sender's stream is busy with each batch of messages that it sends together (a
  /// stage of a collective), before they leave.
  double stage_overhead_s = 0;
  /// Seconds that a connection is busy with each message before its bytes leave, and additional
  /// seconds for each part of a split message, because the sender distributes the parts and waits
  /// for them. With rendezvous, the sender's stream instead of the connection is busy.
  double message_overhead_s = 0, stream_overhead_s = 0;

  Efficiency efficiency = {};

  /// The most bytes per second for a pattern's messages on this connection, if its route has the
  /// latency `latency_s`. The messages of all channels that the pattern uses share this limit.
  double connection_Bps(const NodeConnection& connection, double latency_s, TrafficClass traffic,
                        Rate rate) const;
  /// Number of streams that carry one message of `nbytes` bytes: one per slice.
  std::int64_t streams_per_message(double nbytes) const;
  /// The most bytes per second of one message of `nbytes` bytes on this connection: its longest
  /// slice uses a single stream. In addition, `connection_Bps` limits all concurrent messages
  /// together.
  double message_Bps(const NodeConnection& connection, double latency_s, TrafficClass traffic,
                     double nbytes, Rate rate) const;
  /// True if the limit of a message may be lower than the limit of its connection.
  bool limits_messages() const { return streams > 1 && slice_bytes > 0; }
  /// True if any limit of connections is set.
  bool limits_connections(Rate rate) const;
  /// Number of streams of all connections that a traffic pattern uses between two workers.
  std::int64_t total_streams(TrafficClass traffic) const;
  /// True if messages are sent on connections and the sender does not wait for their delivery.
  bool has_connections() const { return protocol != Protocol::rendezvous; }
  /// True if the receiver of a message of `nbytes` bytes between nodes has to request it.
  bool announces(double nbytes) const {
    return protocol == Protocol::open_mpi && nbytes + kOpenMpiHeader_bytes > eager_limit_bytes;
  }
  /// Bytes of a socket's send buffer on a route of this rate and latency: twice the congestion
  /// window (tcp_sndbuf_expand, net/ipv4/tcp_input.c). The congestion window is assumed to fill the
  /// route, but is at least the initial and at most the full window.
  double send_buffer_bytes(double rate_Bps, double latency_s) const;
  /// True if the buffer of an eager connection, which already holds `held_messages` messages of
  /// `held_bytes` bytes in total, has room for one more message of `nbytes` bytes.
  bool accepts(std::int64_t held_messages, double held_bytes, double nbytes,
               TrafficClass traffic) const;
  /// The most messages of `nbytes` bytes that the buffer of an eager connection holds.
  std::int64_t max_buffered_messages(double nbytes, TrafficClass traffic) const;
  /// Seconds that a connection is busy with each message before its bytes leave.
  double per_message_s() const;
  /// Seconds that the sender's stream is busy with `messages` messages that it sends together.
  double overhead_s(int messages) const;

 private:
  /// Number of connections between two workers that a traffic pattern uses.
  std::int64_t channels_of(TrafficClass traffic) const {
    return is_collective(traffic) ? channels : 1;
  }
  /// Bytes of the longest part of a message that one stream carries.
  double longest_slice_bytes(double nbytes) const;
  /// Bytes per second of one stream on a route of this latency.
  double stream_Bps(double latency_s, Rate rate) const;
};

FieldTable<Transport> transport_fields();

}  // namespace trigram
