#include "cuda/net/sender.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace trigram::net {
namespace {

/// The time that the kernel may need to send the unsent bytes of a stream. The receiver waits for
/// the stream with the longest queue. NCCL then has posted at most 8 receives (1 to 8 MiB), so the
/// other streams may run out of messages meanwhile: with 1 MiB, this happens only above 2 Gbit/s.
constexpr std::chrono::milliseconds kQueueTime{4};
constexpr std::chrono::milliseconds kAdaptInterval{10};
constexpr std::size_t kShortBytes = 4096;       // messages up to this size are joined
constexpr std::size_t kJoinedBytes = 32 << 10;  // with their headers, at most

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
  // As long as the kernel accepts all messages, the poll for room is not needed.
  if (next_ == posted() || !streams_[turn_].has_room) find_room();
  bool moved = false;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (streams_[i].messages > 0 && streams_[i].has_room) {
      flush(i);
      moved = true;
    }
  for (std::size_t tried = 0; tried < streams_.size() && next_ < posted();) {
    Stream& stream = streams_[turn_];
    if (stream.messages > 0 || !stream.has_room) {
      turn_ = (turn_ + 1) % streams_.size();
      ++tried;
      continue;
    }
    tried = 0;
    moved = true;
    const std::size_t index = turn_;
    assign(stream);
    flush(index);
    if (stream.joined.empty() && stream.header.bytes < stream.header.message_bytes &&
        has_unsent(socket(index)))
      turn_ = (turn_ + 1) % streams_.size();
  }
  return moved;
}

void Sender::assign(Stream& stream) {
  stream.sent = 0;
  stream.first = next_;
  stream.messages = 0;
  stream.joined.clear();
  if (request(next_).bytes <= kShortBytes) assign_joined(stream);
  else assign_slice(stream);
}

void Sender::assign_joined(Stream& stream) {
  while (next_ < posted() && request(next_).bytes <= kShortBytes) {
    Request& message = request(next_);
    const std::size_t at = stream.joined.size();
    if (at + sizeof(SliceHeader) + message.bytes > kJoinedBytes) return;
    const SliceHeader header{next_, message.bytes, 0, message.bytes};
    stream.joined.resize(at + sizeof header + message.bytes);
    std::memcpy(stream.joined.data() + at, &header, sizeof header);
    if (message.bytes > 0)
      std::memcpy(stream.joined.data() + at + sizeof header, message.data, message.bytes);
    message.known = true;
    message.moved = message.bytes;
    ++message.open_slices;
    ++stream.messages;
    ++next_;
    count_slice();
  }
}

void Sender::assign_slice(Stream& stream) {
  Request& message = request(next_);
  const std::size_t bytes =
      std::min(slice_bytes(message.bytes, streams_.size()), message.bytes - message.moved);
  stream.header = {next_, message.bytes, message.moved, bytes};
  stream.messages = 1;
  message.known = true;
  message.moved += bytes;
  ++message.open_slices;
  if (message.moved == message.bytes) ++next_;
  count_slice();
}

/// Sends the bytes of the stream that the kernel has not taken yet. Returns the result of send().
ssize_t Sender::send_rest(std::size_t index) {
  Stream& stream = streams_[index];
  if (!stream.joined.empty())
    return ::send(fd(index), stream.joined.data() + stream.sent, stream.joined.size() - stream.sent,
                  MSG_NOSIGNAL);
  iovec parts[2];
  msghdr message{};
  message.msg_iov = parts;
  if (stream.sent < sizeof stream.header)
    parts[message.msg_iovlen++] = {reinterpret_cast<std::byte*>(&stream.header) + stream.sent,
                                   sizeof stream.header - stream.sent};
  const std::size_t begin = std::max(stream.sent, sizeof stream.header) - sizeof stream.header;
  parts[message.msg_iovlen++] = {request(stream.first).data + stream.header.offset + begin,
                                 stream.header.bytes - begin};
  return sendmsg(fd(index), &message, MSG_NOSIGNAL);
}

void Sender::flush(std::size_t index) {
  Stream& stream = streams_[index];
  const ssize_t sent = send_rest(index);
  if (sent < 0 && errno != EAGAIN && errno != EINTR)
    throw system_error("cannot send to the peer", errno);
  stream.sent += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  // If there is no room, find_room() learns from the kernel when there is room again.
  stream.has_room = stream.sent == stream.bytes();
  if (!stream.has_room) return adapt_bound(index);
  for (int i = 0; i < stream.messages; ++i)
    --request(stream.first + static_cast<std::uint64_t>(i)).open_slices;
  stream.messages = 0;
}

void Sender::adapt_bound(std::size_t index) {
  const auto now = Clock::now();
  if (now - streams_[index].bounded_at < kAdaptInterval) return;
  streams_[index].bounded_at = now;
  bound_unsent(socket(index), kQueueTime);
}

}  // namespace trigram::net
