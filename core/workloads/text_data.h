#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/workloads/text_layers.h"

namespace trigram {

/// The text of Debian's package bible-kjv-text, compressed: the 31,102 verses of the King James
/// Bible. The program `bible` of the package bible-kjv prints it.
inline constexpr const char* kBible = "/usr/lib/bible.data";

/// The lines of a text, without their ends: lines to train on and lines to evaluate on, each in the
/// order of the text.
struct TextData {
  std::vector<std::string> train, held_out;
};

/// True if the line is held out: its CRC-32 (zlib) is a multiple of `held_out`, which holds for
/// about one in `held_out` lines. Equal lines are on the same side, and the order of lines has no
/// effect.
bool is_held_out(const std::string& line, std::size_t held_out);

/// Reads a text of bytes in any encoding, one sample per line; skips empty lines. kBible is read by
/// the program `bible`, without the references of verses. Throws ConfigError at `pointer`, naming
/// the file, if it cannot be read, or if there is no line to train on or no held-out line.
TextData load_text(const std::filesystem::path& file, std::size_t held_out,
                   const std::string& pointer);

/// A mini-batch of lines. A line of n bytes is a sequence of n + 1 rows: the first input is a
/// newline, the last label is a newline, and every other input is the label before it.
struct TextBatch {
  SequenceLengths lengths;  // longest first; equal lengths in the order of `chosen`
  std::vector<std::uint8_t> inputs, labels;
};
TextBatch pack(std::span<const std::string> lines, std::span<const std::uint32_t> chosen,
               RowOrder order);

}  // namespace trigram
