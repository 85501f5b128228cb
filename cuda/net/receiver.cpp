#include "cuda/net/receiver.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trigram::net {

Receiver::Receiver(std::vector<Descriptor> sockets, std::chrono::seconds timeout,
                   Counters& counters)
    : Connection(std::move(sockets), timeout, EPOLLIN, counters, counters.received),
      streams_(streams()) {}

bool Receiver::progress() {
  // While all data come on the same stream, as short messages do, a poll for the other streams
  // would double the system calls.
  streams_[recent_].may_have_data = !streams_[recent_].ended;
  bool moved = pump(recent_);
  if (moved && only_recent_) return true;
  const auto ready = poll();
  for (const epoll_event& event : ready) {
    Stream& stream = streams_[event.data.u32];
    stream.may_have_data = !stream.ended;
    stream.closing = stream.closing || (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  }
  const std::size_t before = recent_;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (i != before && pump(i)) {
      recent_ = i;
      moved = true;
    }
  only_recent_ = std::all_of(ready.begin(), ready.end(),
                             [&](const epoll_event& e) { return e.data.u32 == recent_; });
  if (!moved) check_ends();
  return moved;
}

bool Receiver::pump(std::size_t index) {
  Stream& stream = streams_[index];
  const std::size_t staged = stream.end - stream.begin;
  bool asked = unstage(stream);
  bool moved =
      stream.end - stream.begin != staged;  // a header stays if its message has no posted receive
  for (; asked && stream.may_have_data; asked = unstage(stream)) {
    std::memmove(stream.staging.data(), stream.staging.data() + stream.begin,
                 stream.end - stream.begin);
    stream.end -= std::exchange(stream.begin, 0);
    // Behind a slice, only the next header is read, so that long slices are not copied twice.
    const std::size_t ahead = stream.left > 0 ? sizeof(SliceHeader) : kStagingBytes - stream.end;
    iovec parts[2] = {{stream.into, stream.left}, {stream.staging.data() + stream.end, ahead}};
    msghdr message{};
    message.msg_iov = stream.left > 0 ? parts : parts + 1;
    message.msg_iovlen = stream.left > 0 ? 2 : 1;
    const ssize_t received = recvmsg(fd(index), &message, 0);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
      stream.may_have_data = errno == EINTR;
      continue;
    }
    if (received < 0) throw system_error("cannot receive from the peer", errno);
    if (received == 0) {
      stream.ended = true;
      stream.may_have_data = false;
      if (stream.left > 0 || stream.end > 0)
        throw NetError(kRemoteError, "the sender closed the connection within a message");
      break;
    }
    const auto bytes = static_cast<std::size_t>(received);
    moved = true;
    // A short read means that there is no more, except the end, which the kernel does not report a
    // second time.
    stream.may_have_data = stream.closing || bytes == stream.left + ahead;
    const std::size_t direct = std::min(bytes, stream.left);
    stream.end += bytes - direct;
    take(stream, direct);
  }
  stream.waits = !asked;
  return moved;
}

bool Receiver::unstage(Stream& stream) {
  while (stream.begin < stream.end) {
    if (stream.left == 0) {
      if (stream.end - stream.begin < sizeof(SliceHeader)) return true;
      if (!begin_slice(stream)) return false;
    }
    const std::size_t bytes = std::min(stream.left, stream.end - stream.begin);
    if (bytes > 0) std::memcpy(stream.into, stream.staging.data() + stream.begin, bytes);
    stream.begin += bytes;
    take(stream, bytes);
  }
  return true;
}

bool Receiver::begin_slice(Stream& stream) {
  SliceHeader header;
  std::memcpy(&header, stream.staging.data() + stream.begin, sizeof header);
  if (header.message >= posted()) return false;
  Request& message = request(header.message);
  if (!message.owner || header.offset > header.message_bytes ||
      header.bytes > header.message_bytes - header.offset)
    throw NetError(kRemoteError, "the peer sent the header of a slice that cannot be");
  if (!message.known && header.message_bytes > message.bytes)
    throw NetError(kInvalidUsage, fmt::format("a message of {} bytes came for a receive of {}",
                                              header.message_bytes, message.bytes));
  if (message.known && header.message_bytes != message.bytes)
    throw NetError(kRemoteError, "the peer sent slices that name different sizes of their message");
  message.known = true;
  message.bytes = header.message_bytes;
  stream.begin += sizeof header;
  stream.request = &message;
  stream.into = message.data + header.offset;
  stream.left = header.bytes;
  count_slice();
  return true;
}

void Receiver::take(Stream& stream, std::size_t bytes) {
  if (!stream.request) return;
  stream.request->moved += bytes;
  stream.into += bytes;
  stream.left -= bytes;
  if (stream.left == 0) stream.request = nullptr;
}

/// A sender that ends closes all streams, and the bytes that it sent before can still arrive on
/// each of them. A stream that waits for a receive cannot bring the messages of the posted
/// receives, because it carries messages in order.
void Receiver::check_ends() const {
  const auto ended = [](const Stream& stream) {
    return stream.ended && stream.begin == stream.end;
  };
  const auto is_over = [&](const Stream& stream) { return stream.waits || ended(stream); };
  if (std::any_of(streams_.begin(), streams_.end(), ended) &&
      std::all_of(streams_.begin(), streams_.end(), is_over))
    throw NetError(kRemoteError, "the sender has closed the connection");
}

}  // namespace trigram::net
