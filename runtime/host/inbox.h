#pragma once

#include "runtime/host/endpoint.h"

// Control messages that have come to a stream of this process.

namespace trigram::host {

/// Puts a message into the inbox, and wakes its stream if it waits for that. From any thread.
void deliver(Endpoint& receiver, int tag, const Message& message);

/// What Control::receive and Control::poll promise, for the stream behind `self`.
std::optional<Message> receive(Endpoint& self, int tag);
std::optional<Message> poll(Endpoint& self, int tag);

}  // namespace trigram::host
