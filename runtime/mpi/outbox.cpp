#include "runtime/mpi/outbox.h"

#include <algorithm>

#include "runtime/mpi/session.h"

namespace trigram::mpi {

Header header_of(const Tensor& x) {
  return {x.numel(), x.priced_numel(), static_cast<std::uint32_t>(x.dtype()), x.is_phantom()};
}

Outbox::Outbox(MPI_Comm comm, int tag, int ranks, const Transport& transport)
    : comm_(comm), tag_(tag), transport_(transport), fill_(static_cast<std::size_t>(ranks)) {}

bool Outbox::has_room(int peer, const Tensor& x, std::size_t filler, TrafficClass traffic) const {
  if (std::max(payload_of(x), filler) > kLongest) return false;
  const Fill& fill = fill_[static_cast<std::size_t>(peer)];
  return transport_.accepts(fill.messages, fill.nbytes, static_cast<double>(x.priced_nbytes()),
                            traffic);
}

void Outbox::send(int peer, const Tensor& x, std::size_t filler) {
  Message& message = messages_.emplace_back();
  message.peer = peer;
  message.nbytes = static_cast<double>(x.priced_nbytes());
  message.header = header_of(x);
  message.values.pack(x, staging_);
  Fill& fill = fill_[static_cast<std::size_t>(peer)];
  ++fill.messages;
  fill.nbytes += message.nbytes;
  // Resized only once, because MPI may be reading it.
  if (filler_.size() < filler) filler_.resize(kLongest);
  const std::size_t payload = payload_of(x);
  // Only the last part is sent synchronously: its completion means that the message was received.
  const auto part = [&](const void* data, std::size_t nbytes, bool last) {
    start(message, last ? MPI_Issend : MPI_Isend, data, nbytes, last ? "MPI_Issend" : "MPI_Isend");
  };
  part(&message.header, sizeof message.header, payload + filler == 0);
  if (payload > 0) part(message.values.tensor().data(), payload, filler == 0);
  if (filler > 0) part(filler_.data(), filler, true);
}

void Outbox::start(Message& message, Send isend, const void* data, std::size_t nbytes,
                   const char* call) {
  MPI_Request request;
  check(isend(data, static_cast<int>(nbytes), MPI_BYTE, message.peer, tag_, comm_, &request), call);
  ++message.open;
  requests_.push_back(request);
  owners_.push_back(&message);
}

std::size_t Outbox::forget_received() {
  if (requests_.empty()) return 0;
  completed_.resize(requests_.size());
  int done = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done, completed_.data(),
                     MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  if (done <= 0) return 0;
  for (int i = 0; i < done; ++i)
    --owners_[static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)])]->open;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    owners_[kept++] = owners_[i];
  }
  requests_.resize(kept);
  owners_.resize(kept);
  return std::erase_if(messages_, [&](const Message& message) {
    if (message.open > 0) return false;
    Fill& fill = fill_[static_cast<std::size_t>(message.peer)];
    --fill.messages;
    fill.nbytes -= message.nbytes;
    return true;
  });
}

}  // namespace trigram::mpi
