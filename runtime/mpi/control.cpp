#include "runtime/mpi/control.h"

#include "core/wait_text.h"
#include "runtime/host/inbox.h"
#include "runtime/mpi/world.h"

namespace trigram::mpi {

void MpiControl::post(int dest, int tag, std::int64_t a, std::int64_t b) {
  if (dest == self_.rank) host::check_on_rank(self_);
  else host::check_on_stream(self_);
  check_peer(self_.rank, dest, world_.layout().ranks(), self_.stream);
  world_.check_not_failed();
  if (dest == self_.rank) return host::deliver(self_, tag, {self_.rank, a, b});
  world_.send_with_latency(
      dest, {.kind = ControlMessage::control, .stream = group_.id(), .tag = tag, .a = a, .b = b});
}

std::optional<Message> MpiControl::receive(int tag) {
  if (auto message = poll(tag)) return message;  // avoids a wait for the thread that delivers
  return host::receive(self_, tag);
}

std::optional<Message> MpiControl::poll(int tag) {
  host::check_on_stream(self_);
  world_.control_channel().poll();
  return host::poll(self_, tag);
}

}  // namespace trigram::mpi
