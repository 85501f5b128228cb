#pragma once

#include <limits>

#include "core/config/option_type.h"

namespace trigram {

/// The windows of TCP streams. In the long run the throughput of a stream is at most its window
/// divided by its round-trip time, which is twice the latency of its route (RFC 7323, section 1.1).
struct Tcp {
  /// The most unacknowledged bytes that a stream has in flight. Infinite if streams have no window,
  /// as over RDMA.
  double window_bytes = std::numeric_limits<double>::infinity();
  /// Windows open by slow start: they double in every round trip (RFC 5681, section 3.1).
  bool slow_start = false;
  /// The window of a new stream: ten segments (RFC 6928).
  double initial_window_bytes = 14'480;
  /// While a stream is idle, its window closes again: it is halved for each retransmission timeout
  /// that passes (net.ipv4.tcp_slow_start_after_idle; RFC 2861).
  bool restart_after_idle = false;

  bool has_window() const { return window_bytes != std::numeric_limits<double>::infinity(); }
  bool operator==(const Tcp&) const = default;
};

/// Linux's defaults. The window is half of the 6,291,456 bytes that net.ipv4.tcp_rmem allows:
/// net.ipv4.tcp_adv_win_scale = 1 reserves the other half for bookkeeping. The send buffer
/// (net.ipv4.tcp_wmem) of 4,194,304 bytes is larger and so does not limit. Both are autotuned up to
/// these values unless the application sets them (Documentation/networking/ip-sysctl.rst).
Tcp linux_tcp();

/// Seconds without a send after which a stream with this round-trip time counts as idle: the
/// retransmission timeout of a path without jitter, which is the round-trip time plus 200 ms
/// (TCP_RTO_MIN of Linux).
double idle_timeout_s(double round_trip_s);

/// "none", "linux", or an object with the fields that differ from Linux's defaults.
OptionType<Tcp> tcp_kind();

/// Two rates of a stream: the burst rate while its window has room, and the sustained rate of a
/// long message, which moves one window per round trip.
enum class Rate { burst, sustained };

/// The properties of a connection that its window depends on.
struct TcpPath {
  double streams = 1;       // number of streams; their windows add up
  double rate_Bps = 0;      // burst rate of all streams together
  double round_trip_s = 0;  // seconds from the departure of bytes to their acknowledgement
  double busy_s = 0;  // seconds that the connection spends on a message before its bytes leave
};

/// The window of one connection and how far it is open. It models all streams of the connection
/// together, over which a message is split evenly.
///
/// Bytes leave at the rate of the path while the window has room. Further bytes wait for the
/// acknowledgement of the window's first byte, which arrives one round trip after that byte left
/// and opens the next window. So a short message leaves at once, and a long message moves one
/// window per round trip.
class TcpWindow {
 public:
  /// The times at which the first and the last byte of a message leave.
  struct Departure {
    double begin_s, end_s;
  };
  /// Sends a message of `nbytes` bytes that is handed over at `at_s`, after all earlier messages. n
  /// bytes with window w, rate B and round trip R take n/B, plus a pause of R - w/B after each
  /// window, if the pause is positive and bytes are left. With slow start, windows grow by the
  /// acknowledged bytes: 2^i times the initial window in the i-th round trip.
  Departure send(const Tcp& tcp, const TcpPath& path, double at_s, double nbytes);
  /// Records that messages were sent without pauses until `at_s`.
  void sent_until(double at_s) { last_s_ = at_s; }
  /// True if messages that are sent from `at_s` on leave without pauses.
  bool is_open(const Tcp& tcp, const TcpPath& path, double at_s) const;

  /// The present window of one stream, in bytes; 0 before the first message.
  double open_bytes() const { return window_bytes_; }

  bool operator==(const TcpWindow&) const = default;

 private:
  void close_while_idle(const Tcp& tcp, const TcpPath& path, double at_s);
  void begin_round(double max_bytes, double at_s);
  double send_rounds(const TcpPath& path, double max_bytes, double at_s, double nbytes);

  double window_bytes_ = 0;    // 0 before the first message
  double last_s_ = 0;          // time at which the last message left
  double round_s_ = 0;         // time at which the first byte of this window left
  double in_round_bytes_ = 0;  // bytes that have left since round_s_
};

}  // namespace trigram
