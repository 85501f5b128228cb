#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace trigram::net {

/// The header before each slice of a message on its stream; little-endian.
struct SliceHeader {
  std::uint64_t message = 0;        // index of the message on its connection, from 0
  std::uint64_t message_bytes = 0;  // size of the whole message
  std::uint64_t offset = 0;         // of the slice within the message
  std::uint64_t bytes = 0;          // of the slice
};
static_assert(sizeof(SliceHeader) == 32);

constexpr std::size_t kWholeBytes = 64 << 10;  // messages up to this size are one slice
/// Shorter slices would cost more in system calls than they save.
constexpr std::size_t kMinSliceBytes = 32 << 10;
/// With longer slices, the last slice of a slow stream would delay its message longer.
constexpr std::size_t kMaxSliceBytes = 256 << 10;

/// The size of the slices of a message, of which the last may be shorter. All slices are about
/// equal: one per stream, within the bounds above. NCCL sends messages of 128 KiB to 1 MiB, which
/// are 4 to 8 slices on 8 streams.
constexpr std::size_t slice_bytes(std::size_t message_bytes, std::size_t streams) {
  if (message_bytes <= kWholeBytes) return message_bytes;
  const std::size_t wanted =
      std::clamp((message_bytes + streams - 1) / streams, kMinSliceBytes, kMaxSliceBytes);
  const std::size_t slices = (message_bytes + wanted - 1) / wanted;
  return (message_bytes + slices - 1) / slices;
}

}  // namespace trigram::net
