#include "netmodels/network/tcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/config/config_error.h"
#include "core/config/fields.h"
#include "core/config/option_type.h"

namespace trigram {
namespace {

FieldTable<Tcp> tcp_fields() {
  const auto slow_start = [](const Tcp& tcp) { return tcp.slow_start; };
  return FieldTable<Tcp>{}
      .field("window", &Tcp::window_bytes,
             dumped_if(quantity(Dimension::bytes, true),
                       [](double bytes) { return std::isfinite(bytes); }),
             "largest number of bytes in flight in a stream; its rate is at most this over the "
             "round-trip time")
      .field("slow_start", &Tcp::slow_start, boolean(), "whether windows open by slow start")
      .field("initial_window", &Tcp::initial_window_bytes, quantity(Dimension::bytes, true),
             "window of a new stream")
      .only_where(
          slow_start,
          "is the window in which slow start begins; expected \"slow_start\": true beside it")
      .field("restart_after_idle", &Tcp::restart_after_idle, boolean(),
             "whether a window closes again while its stream is idle")
      .only_where(slow_start,
                  "applies only to slow start; expected \"slow_start\": true beside it");
}

/// The schema of the object form, in which absent fields have Linux's values.
Json tcp_schema(const FieldTable<Tcp>& fields) {
  Json schema = fields.schema();
  const Json defaults = fields.dump(linux_tcp());
  for (const auto& [name, value] : defaults.items()) schema["properties"][name]["default"] = value;
  return schema;
}

}  // namespace

Tcp linux_tcp() {
  return {.window_bytes = 6'291'456.0 / 2, .slow_start = true, .restart_after_idle = true};
}

double idle_timeout_s(double round_trip_s) { return 0.2 + round_trip_s; }

OptionType<Tcp> tcp_kind() {
  const FieldTable<Tcp> fields = tcp_fields();
  const std::vector<std::string> names = {"none", "linux"};
  return {
      [fields, names](const Json& j, const std::string& pointer) {
        if (!j.is_object() && !j.is_string())
          throw ConfigError(
              pointer, fmt::format("expected \"none\", \"linux\" or an object, not {}", j.dump()));
        if (j.is_string()) return index_of_name(names, j, pointer) == 0 ? Tcp{} : linux_tcp();
        // The fields that are given replace Linux's values.
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
        return tcp.has_window() ? fields.dump(tcp) : Json("none");
      },
      [names, fields]() -> Json {
        return {{"oneOf", {schema_of_names(names), tcp_schema(fields)}}};
      }};
}

void TcpWindow::close_while_idle(const Tcp& tcp, const TcpPath& path, double at_s) {
  if (!tcp.restart_after_idle) return;
  const double initial = tcp.initial_window_bytes;
  const double timeout_s = idle_timeout_s(path.round_trip_s);
  for (double idle_s = at_s - last_s_; idle_s > timeout_s && window_bytes_ > initial;
       idle_s -= timeout_s)
    window_bytes_ = std::max(initial, window_bytes_ / 2);
}

bool TcpWindow::is_open(const Tcp& tcp, const TcpPath& path, double at_s) const {
  const double max_bytes = tcp.window_bytes;
  if (path.round_trip_s <= 0) return true;
  if (path.streams * max_bytes < path.rate_Bps * path.round_trip_s) return false;
  if (!tcp.slow_start) return true;
  const bool idle = tcp.restart_after_idle && at_s - last_s_ > idle_timeout_s(path.round_trip_s);
  return !idle && window_bytes_ >= max_bytes;
}

/// The new window is the old one plus the acknowledged bytes.
void TcpWindow::begin_round(double max_bytes, double at_s) {
  window_bytes_ = std::min(max_bytes, window_bytes_ + in_round_bytes_);
  in_round_bytes_ = 0;
  round_s_ = at_s;
}

/// Sends `nbytes` bytes on one stream, beginning with a fresh window. Returns the time at which the
/// last byte leaves.
double TcpWindow::send_rounds(const TcpPath& path, double max_bytes, double at_s, double nbytes) {
  const double rate_Bps = path.rate_Bps / path.streams;
  const double bandwidth_delay_bytes = rate_Bps * path.round_trip_s;
  while (nbytes > window_bytes_ && window_bytes_ < std::min(max_bytes, bandwidth_delay_bytes)) {
    in_round_bytes_ = window_bytes_;
    nbytes -= window_bytes_;
    at_s += path.round_trip_s;
    begin_round(max_bytes, at_s);
  }
  if (window_bytes_ >= bandwidth_delay_bytes) {  // acknowledgements arrive as fast as bytes leave
    window_bytes_ = std::min(max_bytes, window_bytes_ + nbytes);
  } else {
    // Number of full windows before the last one.
    const double windows = std::ceil(nbytes / window_bytes_) - 1;
    at_s += windows * path.round_trip_s;
    nbytes -= windows * window_bytes_;
    round_s_ = at_s;
    in_round_bytes_ = nbytes;
  }
  return at_s + nbytes / rate_Bps;
}

/// The streams of a connection behave alike, so this object has the state of a single stream. The
/// number of streams may differ between traffic patterns.
TcpWindow::Departure TcpWindow::send(const Tcp& tcp, const TcpPath& path, double at_s,
                                     double nbytes) {
  const bool is_open_now = is_open(tcp, path, at_s);
  const double max_bytes = tcp.window_bytes;
  if (window_bytes_ == 0) window_bytes_ = tcp.slow_start ? tcp.initial_window_bytes : max_bytes;
  const double handed_s = at_s;
  at_s = std::max(at_s, last_s_) + path.busy_s;
  if (is_open_now || nbytes <= 0) {
    last_s_ = at_s + nbytes / path.rate_Bps;
    return {at_s, last_s_};
  }
  const double next_s = round_s_ + path.round_trip_s;
  if (at_s >= next_s) begin_round(max_bytes, at_s);
  close_while_idle(tcp, path, handed_s);
  nbytes /= path.streams;
  const double fitting_bytes = std::min(nbytes, std::max(0.0, window_bytes_ - in_round_bytes_));
  const double begin_s = fitting_bytes > 0 ? at_s : next_s;
  at_s = begin_s + fitting_bytes * path.streams / path.rate_Bps;
  in_round_bytes_ += fitting_bytes;
  if (nbytes > fitting_bytes) {
    at_s = std::max(at_s, round_s_ + path.round_trip_s);
    begin_round(max_bytes, at_s);
    at_s = send_rounds(path, max_bytes, at_s, nbytes - fitting_bytes);
  }
  last_s_ = at_s;
  return {begin_s, at_s};
}

}  // namespace trigram
