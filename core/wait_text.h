#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/runtime.h"
#include "core/tensor.h"

namespace trigram {

/// The event for which a blocked stream waits. Every runtime reports waits in this form, so that
/// the text about a hang is the same in all worlds.
struct Wait {
  enum Kind : unsigned char {
    none,         // not blocked
    message,      // a message from `peer`
    receiver,     // `peer` to take a message
    control,      // a control message with `tag`
    work,         // a task of stream `name`
    mutex,        // its turn to lock a mutex
    stream_end,   // the last task of stream `name`
    fork,         // the other ranks to fork stream `name`
    collective,   // the other ranks, in a native collective
    bootstrap,    // the value that another rank puts under the key `name`
    accelerator,  // the stream's own accelerator
    connection,  // the other ranks to connect stream `name`; may take long and has its own deadline
  } kind = none;
  int peer = -1;
  int tag = 0;
  std::string_view name = {};
};

/// One line, such as "rank 3 waits for a message from rank 2 on stream comm".
std::string wait_text(int rank, std::string_view stream, const Wait& wait);

/// The error for a world in which no stream can make progress; one line per blocked stream.
HangError hang_error(std::span<const std::string> lines);

/// Checks on receipt that the sent and the received tensor of a message match: lengths, priced
/// lengths and element types are equal, and both or neither are phantoms. Throws InvariantError
/// naming both ranks.
void check_match(const Tensor& sent, int source, const Tensor& received, int destination,
                 std::string_view stream);

/// Checks that this rank forks the same stream as the other ranks at this point.
void check_fork_name(int rank, std::string_view name, std::string_view expected);

/// Checks that `peer` is a rank of the world.
void check_peer(int rank, int peer, int world_size, std::string_view stream);

/// Throws InvariantError: a task of another stream uses the communicator, control plane or clock of
/// `stream`.
[[noreturn]] void throw_not_owner(int rank, std::string_view stream);

/// Checks that only the stream itself uses its communicator, control plane or clock. Inline, since
/// every message is checked and the name need not be read for it.
inline void check_owner(bool is_owner, int rank, std::string_view stream) {
  if (!is_owner) throw_not_owner(rank, stream);
}

}  // namespace trigram
