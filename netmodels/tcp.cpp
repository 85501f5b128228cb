#include "netmodels/tcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/config/config_error.h"
#include "core/config/fields.h"
#include "core/config/option_kinds.h"

namespace trigram {
namespace {

FieldTable<Tcp> tcp_fields() {
  const auto opens = [](const Tcp& tcp) { return tcp.slow_start; };
  return FieldTable<Tcp>{}
      .field("window", &Tcp::window_bytes,
             written_where(quantity(Dimension::bytes, true),
                           [](double bytes) { return std::isfinite(bytes); }),
             "bytes of a stream under way: it moves at most this over the round-trip time")
      .field("slow_start", &Tcp::slow_start, boolean(), "whether windows open by slow start")
      .field("initial_window", &Tcp::initial_window_bytes, quantity(Dimension::bytes, true),
             "window of a stream that begins")
      .only_where(opens, "is where slow start begins; expected it with \"slow_start\": true")
      .field("restart_after_idle", &Tcp::restart_after_idle, boolean(),
             "whether a window closes again while its stream is idle")
      .only_where(opens, "is of windows that open; expected it with \"slow_start\": true");
}

}  // namespace

Tcp linux_tcp() {
  return {.window_bytes = 6'291'456.0 / 2, .slow_start = true, .restart_after_idle = true};
}

double idle_timeout_s(double round_trip_s) { return 0.2 + round_trip_s; }

Kind<Tcp> tcp_kind() {
  const FieldTable<Tcp> fields = tcp_fields();
  const std::vector<std::string> names = {"none", "linux"};
  return {
      [fields, names](const Json& j, const std::string& pointer) {
        if (!j.is_object() && !j.is_string())
          throw ConfigError(
              pointer, fmt::format("expected \"none\", \"linux\" or an object, not {}", j.dump()));
        if (j.is_string()) return index_of_name(names, j, pointer) == 0 ? Tcp{} : linux_tcp();
        // The fields that are given replace those of Linux.
        Tcp base = linux_tcp();
        if (j.value("slow_start", Json(true)) == Json(false))
          base.slow_start = base.restart_after_idle = false;
        Json merged = fields.dump(base);
        merged.update(j);
        const Tcp tcp = fields.parse(merged, pointer);
        if (j.contains("initial_window") && tcp.initial_window_bytes > tcp.window_bytes)
          throw ConfigError(pointer + "/initial_window",
                            fmt::format("expected at most the window, {:.0f} B", tcp.window_bytes));
        return tcp;
      },
      [fields](const Tcp& tcp) {
        if (tcp == linux_tcp()) return Json("linux");
        return tcp.exists() ? fields.dump(tcp) : Json("none");
      },
      Json{{"oneOf", {schema_of_names(names), fields.schema()}}}};
}

void TcpWindow::close_while_idle(const Tcp& tcp, double streams, double now_s,
                                 double round_trip_s) {
  if (!tcp.restart_after_idle) return;
  const double initial = streams * tcp.initial_window_bytes;
  const double timeout_s = idle_timeout_s(round_trip_s);
  for (double idle_s = now_s - last_s_; idle_s > timeout_s && window_bytes_ > initial;
       idle_s -= timeout_s)
    window_bytes_ = std::max(initial, window_bytes_ / 2);
}

bool TcpWindow::open(const Tcp& tcp, double streams, double now_s, double round_trip_s) const {
  if (!tcp.slow_start || round_trip_s <= 0) return true;
  const bool idle = tcp.restart_after_idle && now_s - last_s_ > idle_timeout_s(round_trip_s);
  return !idle && window_bytes_ >= streams * tcp.window_bytes;
}

double TcpWindow::pause_s(const Tcp& tcp, double streams, double now_s, double nbytes,
                          double rate_Bps, double round_trip_s) {
  if (open(tcp, streams, now_s, round_trip_s)) {
    last_s_ = std::max(last_s_, now_s) + nbytes / rate_Bps;
    return 0;
  }
  const double most = streams * tcp.window_bytes;
  const auto begin_round = [&](double at_s) {
    // It grows by what has been acknowledged.
    window_bytes_ = std::min(most, window_bytes_ + in_round_bytes_);
    in_round_bytes_ = 0;
    round_s_ = at_s;
  };
  double at_s = now_s, paused_s = 0;
  if (window_bytes_ == 0) window_bytes_ = streams * tcp.initial_window_bytes;
  if (at_s >= round_s_ + round_trip_s) begin_round(at_s);
  close_while_idle(tcp, streams, now_s, round_trip_s);
  while (true) {
    const double room = std::max(0.0, window_bytes_ - in_round_bytes_);
    const double sent = std::min(nbytes, room);
    in_round_bytes_ += sent;
    nbytes -= sent;
    at_s += sent / rate_Bps;
    if (nbytes <= 0) break;
    const double next_s = round_s_ + round_trip_s;
    if (next_s > at_s) paused_s += next_s - at_s;
    at_s = std::max(at_s, next_s);
    begin_round(at_s);
    if (window_bytes_ >= most || window_bytes_ >= rate_Bps * round_trip_s) {
      // The path is full, or the window as open as it gets: what is left comes without a pause.
      window_bytes_ = std::min(most, window_bytes_ + nbytes);
      at_s += nbytes / rate_Bps;
      break;
    }
  }
  last_s_ = std::max(last_s_, at_s);
  return paused_s;
}

}  // namespace trigram
