#pragma once

#include <limits>

#include "core/config/option_type.h"

namespace trigram {

/// The windows of TCP streams. In the long run a stream moves no more than its window over the
/// round-trip time of its route, two latencies (RFC 7323, section 1.1).
struct Tcp {
  /// Bytes that a stream may have under way before they are acknowledged; infinite where streams
  /// have no window, as over RDMA.
  double window_bytes = std::numeric_limits<double>::infinity();
  /// Whether windows open by slow start, doubling every round trip (RFC 5681, section 3.1).
  bool slow_start = false;
  /// The window of a stream that begins: ten segments (RFC 6928).
  double initial_window_bytes = 14'480;
  /// Whether a window closes again, by half for each retransmission timeout, while its stream is
  /// idle (net.ipv4.tcp_slow_start_after_idle; RFC 2861).
  bool restart_after_idle = false;

  bool exists() const { return window_bytes != std::numeric_limits<double>::infinity(); }
  bool operator==(const Tcp&) const = default;
};

/// What Linux does by default. The window is what net.ipv4.tcp_rmem allows, 6,291,456 bytes, less
/// the half that net.ipv4.tcp_adv_win_scale = 1 keeps for its own bookkeeping; the send buffer,
/// net.ipv4.tcp_wmem, allows 4,194,304 bytes, which is more. Both grow to these by themselves where
/// no application sets them (Documentation/networking/ip-sysctl.rst).
Tcp linux_tcp();

/// Seconds without a send after which a stream with this round-trip time counts as idle: the
/// retransmission timeout of a path without jitter, which is 200 ms above it (TCP_RTO_MIN of
/// Linux).
double idle_timeout_s(double round_trip_s);

/// "none", "linux", or an object whose fields differ from those of Linux.
OptionType<Tcp> tcp_kind();

/// Which rate of a stream is meant: that of bytes that leave while its window has room, or that of
/// a long message, of which a window moves in each round trip.
enum class Rate { burst, sustained };

/// The way of a connection, as its window sees it.
struct TcpPath {
  double streams = 1;       // whose windows count together
  double rate_Bps = 0;      // at which bytes leave while the window has room
  double round_trip_s = 0;  // until bytes that have left are acknowledged
  double busy_s = 0;        // of the connection, before the bytes of each message leave
};

/// What one connection may have under way, and how far that is open; of all its streams together,
/// over which a message is split evenly.
///
/// Bytes leave at the rate of the path as long as the window has room. Then they wait for the
/// acknowledgement of the first of them, a round trip after those left, with which the next window
/// begins. So a short message leaves at once, and a long one moves a window in each round trip.
class TcpWindow {
 public:
  /// When the first and the last byte of a message leave.
  struct Leaving {
    double begin_s, end_s;
  };
  /// Of a message of `nbytes` that is handed over at `at_s`, after all before it. A burst of n
  /// bytes with window w, rate B and round trip R takes n/B and a pause of R - w/B after each
  /// window, as long as that is positive and something is left to send. By slow start, windows
  /// grow by what has been acknowledged: 2^i times the initial one in the i-th round trip.
  Leaving leave(const Tcp& tcp, const TcpPath& path, double at_s, double nbytes);
  /// Messages have been sent until `at_s`, without pauses.
  void sent(double at_s) { last_s_ = at_s; }
  /// Whether messages leave without pauses from `at_s` on.
  bool open(const Tcp& tcp, const TcpPath& path, double at_s) const;

  bool operator==(const TcpWindow&) const = default;

 private:
  void close_while_idle(const Tcp& tcp, const TcpPath& path, double at_s);
  void begin_round(double most, double at_s);
  double send_rounds(const TcpPath& path, double most, double at_s, double nbytes);

  double window_bytes_ = 0;    // 0 before the first message
  double last_s_ = 0;          // when the last message has left
  double round_s_ = 0;         // when the first byte of this window left
  double in_round_bytes_ = 0;  // that have left since
};

}  // namespace trigram
