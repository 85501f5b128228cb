#pragma once

#include <limits>

#include "core/config/kinds.h"

namespace trigram {

/// The windows of TCP streams. A stream moves no more than its window over the round-trip time of
/// its route, two latencies (RFC 7323, section 1.1).
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
Kind<Tcp> tcp_kind();

/// How far the window of one connection is open. All its streams together: a message is split
/// evenly over them.
class TcpWindow {
 public:
  /// Seconds that a message of `nbytes`, which is handed over at `now_s`, takes longer because its
  /// window is not open: the pauses between the bursts of slow start. A burst of n bytes on a path
  /// that has been idle, with initial window w, rate B and round trip R, pauses R - 2^i w / B after
  /// its i-th window, as long as that is positive and something is left to send.
  double pause_s(const Tcp& tcp, double streams, double now_s, double nbytes, double rate_Bps,
                 double round_trip_s);
  /// Messages have been sent until `at_s`, without pauses.
  void sent(double at_s) { last_s_ = at_s; }
  /// Whether messages come without pauses at `now_s`.
  bool open(const Tcp& tcp, double streams, double now_s, double round_trip_s) const;

 private:
  void close_while_idle(const Tcp& tcp, double streams, double now_s, double round_trip_s);

  double window_bytes_ = 0;    // 0 before the first message
  double last_s_ = 0;          // when the last message has left
  double round_s_ = 0;         // when the window was last opened
  double in_round_bytes_ = 0;  // sent since
};

}  // namespace trigram
