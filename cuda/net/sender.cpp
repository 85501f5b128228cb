#include "cuda/net/sender.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace trigram::net {
namespace {

/// How much time the kernel may need to send what a stream holds. The receiver waits for the stream
/// with the longest queue, and then has asked for 8 messages (1 to 8 MiB) at most: with 1 MiB, 4 ms
/// stop no other stream below 2 Gbit/s.
constexpr std::chrono::milliseconds kQueueTime{4};
constexpr std::chrono::milliseconds kAdaptInterval{10};
constexpr std::size_t kJoinedBytes = 256;

}  // namespace

Sender::Sender(std::vector<Descriptor> sockets, std::chrono::seconds timeout, Counters& counters)
    : Connection(std::move(sockets), timeout, EPOLLOUT, counters, counters.sent),
      streams_(streams()) {}

void Sender::find_room() {
  for (const epoll_event& event : poll()) {
    if (event.events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP))
      throw NetError(kRemoteError, "the receiver has closed the connection");
    streams_[event.data.u32].has_room = true;
  }
}

bool Sender::progress() {
  // As long as the kernel takes messages as they come, it is not asked for room.
  if (next_ == posted() || !streams_[turn_].has_room) find_room();
  bool moved = false;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (streams_[i].request && streams_[i].has_room) {
      flush(i);
      moved = true;
    }
  for (std::size_t tried = 0; tried < streams_.size() && next_ < posted();) {
    Stream& stream = streams_[turn_];
    if (stream.request || !stream.has_room) {
      turn_ = (turn_ + 1) % streams_.size();
      ++tried;
      continue;
    }
    tried = 0;
    moved = true;
    const std::size_t index = turn_;
    deal(stream);
    flush(index);
    if (stream.header.bytes < stream.header.message_bytes && has_unsent(socket(index)))
      turn_ = (turn_ + 1) % streams_.size();
  }
  return moved;
}

void Sender::deal(Stream& stream) {
  Request& message = request(next_);
  const std::size_t slice = slice_bytes(message.bytes, streams_.size());
  const std::size_t bytes = std::min(slice, message.bytes - message.moved);
  stream.request = &message;
  stream.header = {next_, message.bytes, message.moved, bytes};
  stream.sent = 0;
  message.known = true;
  message.moved += bytes;
  ++message.open_slices;
  if (message.moved == message.bytes) ++next_;
  count_slice();
}

/// Sends header and slice, from what was sent before on.
ssize_t Sender::send_rest(std::size_t index) {
  Stream& stream = streams_[index];
  const auto* header = reinterpret_cast<std::byte*>(&stream.header);
  std::byte* data = stream.request->data + stream.header.offset;
  if (stream.sent == 0 &&
      stream.header.bytes <= kJoinedBytes) {  // one copy is faster than a list of two parts
    std::array<std::byte, sizeof(SliceHeader) + kJoinedBytes> joined;
    std::memcpy(joined.data(), header, sizeof(SliceHeader));
    if (stream.header.bytes > 0)
      std::memcpy(joined.data() + sizeof(SliceHeader), data, stream.header.bytes);
    return ::send(fd(index), joined.data(), sizeof(SliceHeader) + stream.header.bytes,
                  MSG_NOSIGNAL);
  }
  iovec parts[2];
  msghdr message{};
  message.msg_iov = parts;
  if (stream.sent < sizeof stream.header)
    parts[message.msg_iovlen++] = {const_cast<std::byte*>(header) + stream.sent,
                                   sizeof stream.header - stream.sent};
  const std::size_t begin = std::max(stream.sent, sizeof stream.header) - sizeof stream.header;
  if (begin < stream.header.bytes)
    parts[message.msg_iovlen++] = {data + begin, stream.header.bytes - begin};
  return sendmsg(fd(index), &message, MSG_NOSIGNAL);
}

void Sender::flush(std::size_t index) {
  Stream& stream = streams_[index];
  const ssize_t sent = send_rest(index);
  if (sent < 0 && errno != EAGAIN && errno != EINTR)
    throw system_error("cannot send to the peer", errno);
  stream.sent += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  stream.has_room = stream.sent ==
                    sizeof stream.header +
                        stream.header.bytes;  // else the kernel reports it when there is room again
  if (!stream.has_room) return adapt_bound(index);
  --stream.request->open_slices;
  stream.request = nullptr;
}

void Sender::adapt_bound(std::size_t index) {
  const auto now = Clock::now();
  if (now - streams_[index].bounded_at < kAdaptInterval) return;
  streams_[index].bounded_at = now;
  bound_unsent(socket(index), kQueueTime);
}

}  // namespace trigram::net
