#include "core/wait_text.h"

#include <fmt/ranges.h>

#include "core/check.h"

namespace trigram {
namespace {

std::string_view name_of(DType type) {
  switch (type) {
    case DType::f32: return "f32";
    case DType::bf16: return "bf16";
    case DType::f16: return "f16";
    case DType::u8: return "u8";
  }
  return "?";
}

std::string shape_text(const Tensor& x) {
  std::string text = fmt::format("{} x {}", x.numel(), name_of(x.dtype()));
  if (x.priced_numel() != x.numel()) text += fmt::format(" priced as {}", x.priced_numel());
  if (x.is_phantom()) text += " (phantom)";
  return text;
}

std::string awaited(const Wait& wait) {
  switch (wait.kind) {
    case Wait::none: return "nothing";
    case Wait::message: return fmt::format("a message from rank {}", wait.peer);
    case Wait::receiver: return fmt::format("rank {} to receive a message", wait.peer);
    case Wait::control: return fmt::format("a control message with tag {}", wait.tag);
    case Wait::work: return fmt::format("a task of stream {}", wait.name);
    case Wait::mutex: return "a mutex";
    case Wait::fork: return fmt::format("the other ranks to fork stream {}", wait.name);
    case Wait::collective: return "the other ranks in a native collective";
    case Wait::bootstrap: return fmt::format("another rank to put {}", wait.name);
    case Wait::accelerator: return "its accelerator";
    case Wait::connection: return fmt::format("the other ranks to connect stream {}", wait.name);
    case Wait::stream_end: return fmt::format("the end of stream {}", wait.name);
  }
  return "?";
}

}  // namespace

std::string wait_text(int rank, std::string_view stream, const Wait& wait) {
  return fmt::format("rank {} waits for {} on stream {}", rank, awaited(wait), stream);
}

HangError hang_error(std::span<const std::string> lines) {
  return HangError(fmt::format("{}", fmt::join(lines, "\n")));
}

void check_match(const Tensor& sent, int source, const Tensor& received, int destination,
                 std::string_view stream) {
  const bool same_kind = sent.nbytes() == 0 || sent.is_phantom() == received.is_phantom();
  const bool match = sent.numel() == received.numel() && sent.dtype() == received.dtype() &&
                     sent.priced_numel() == received.priced_numel() && same_kind;
  TRIGRAM_CHECK(match, "rank {} sent {} and rank {} expected {} on stream {}", source,
                shape_text(sent), destination, shape_text(received), stream);
}

void check_fork_name(int rank, std::string_view name, std::string_view expected) {
  TRIGRAM_CHECK(name == expected,
                "rank {} forks stream {} where another rank forks stream {}: all ranks must fork "
                "the same streams in the same order",
                rank, name, expected);
}

void check_peer(int rank, int peer, int world_size, std::string_view stream) {
  TRIGRAM_CHECK(peer >= 0 && peer < world_size,
                "rank {} addresses rank {} on stream {}, in a world of {} ranks", rank, peer,
                stream, world_size);
}

void throw_not_owner(int rank, std::string_view stream) {
  fail_check("is_owner", __FILE__, __LINE__,
             fmt::format("rank {} uses stream {} outside that stream", rank, stream));
}

}  // namespace trigram
