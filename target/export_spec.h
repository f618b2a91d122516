#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/messages.h"
#include "target/access_rules.h"
#include "target/export_origin.h"

namespace rdmablk::target {

/// The size of a chunk unless another is asked for, in bytes.
inline constexpr std::uint64_t kDefaultChunk = std::uint64_t{256} << 20;

/// The most chunks that an export is cut into.
inline constexpr std::uint64_t kMaxChunks = std::uint64_t{1} << 20;

/// Whether a file is read and written past the page cache.
enum class DirectIo { automatic, on, off };

/// An export as its owner asks for it.
struct ExportSpec {
  std::string name;
  protocol::ExportKind kind = protocol::ExportKind::memory;
  ExportOrigin origin = ExportOrigin::command_line;
  bool read_only = false;
  AccessRules rules;    ///< which initiators may have it
  bool shared = false;  ///< any number of initiators may write to it at a time

  // Of memory, and of a resident file, which lies in memory while it is served.
  std::uint64_t size = 0;       ///< bytes, a multiple of 512; of a file: zero, BackingFile knows it
  std::uint64_t huge_page = 0;  ///< bytes of a huge page; zero: the usual pages
  std::uint64_t chunk = kDefaultChunk;  ///< bytes, a power of two and at least a page

  std::string save;  ///< of memory: the file that holds it while no target runs; empty: none

  // Of a file, resident or not.
  std::string path;                        ///< absolute
  std::optional<std::uint64_t> file_size;  ///< bytes that it has, or gets if it has to be made
  bool sparse = false;                     ///< a file that is made is not allocated
  DirectIo direct = DirectIo::automatic;

  /// Whether a file or block device stands behind it.
  bool has_file() const noexcept { return kind != protocol::ExportKind::memory; }
};

/// Reads NAME=memory:SIZE[,huge=2M|1G][,readonly][,shared][,chunk=SIZE][,save=PATH] or
/// NAME=file:PATH[,size=SIZE][,sparse][,direct=auto|on|off][,readonly][,shared][,resident], a
/// resident one also with huge and chunk. A relative path is made absolute. A comma that belongs to
/// a value is written `\,`, a backslash before a comma `\\`. Each also takes
/// allow=CLIENT[:ro|:rw][@ADDRESS[/BITS]], as often as need be. Throws UsageError.
ExportSpec parse_export_spec(std::string_view text);

/// Makes a path that an export is given absolute: it must not depend on the daemon's directory.
/// Throws UsageError.
std::string absolute_path(std::string_view text, std::string_view name);

/// Checks that `spec.size` bytes make no more than kMaxChunks. parse_export_spec() has done so for
/// memory; for a resident file it is to be called when its size is known. Throws UsageError.
void check_chunk_count(const ExportSpec& spec);

/// Reads several. Throws UsageError, also when two have the same name.
std::vector<ExportSpec> parse_export_specs(const std::vector<std::string>& texts);

}  // namespace rdmablk::target
