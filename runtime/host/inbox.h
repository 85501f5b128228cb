#pragma once

#include "runtime/host/endpoint.h"

// Control messages that have arrived for a stream of this process.

namespace trigram::host {

/// Puts a message into the inbox, and wakes the stream if it waits for this tag. Any thread may
/// call it.
void deliver(Endpoint& receiver, int tag, const Message& message);

/// Implementations of Control::receive and Control::poll for the stream of `self`.
std::optional<Message> receive(Endpoint& self, int tag);
std::optional<Message> poll(Endpoint& self, int tag);

}  // namespace trigram::host
