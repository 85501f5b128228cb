#include "runtime/threads/control.h"

#include "runtime/host/inbox.h"
#include "runtime/threads/shaped_network.h"
#include "runtime/threads/world.h"

namespace trigram::threads {
void ThreadsControl::post(int dest, int tag, std::int64_t a, std::int64_t b) {
  if (dest == self_.rank) host::check_on_rank(self_);
  else host::check_on_stream(self_);
  check_peer(self_.rank, dest, self_.world.layout().ranks(), self_.stream);
  self_.world.check_not_failed();
  Endpoint& receiver = group_.at(dest);
  const Message message{self_.rank, a, b};
  auto* const network = static_cast<ThreadsWorld&>(self_.world).network();
  if (network == nullptr || dest == self_.rank) return host::deliver(receiver, tag, message);
  network->post(self_.rank, dest,
                [&receiver, tag, message] { host::deliver(receiver, tag, message); });
}

std::optional<Message> ThreadsControl::receive(int tag) { return host::receive(self_, tag); }

std::optional<Message> ThreadsControl::poll(int tag) { return host::poll(self_, tag); }

}  // namespace trigram::threads
