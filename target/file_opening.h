#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "common/unique_fd.h"
#include "target/export_spec.h"
#include "target/patience.h"

namespace rdmablk::target {

/// Throws the Error that the file of an export cannot be served: "cannot export '/a' as 'b': WHY".
[[noreturn]] void fail_export(const ExportSpec& spec, std::string_view why);

/// A file that was made just now; removes it again unless it is to be kept.
class CreatedFile {
 public:
  /// @param fd of the file, open as long as this lives.
  CreatedFile(int fd, UniqueFd directory, std::string name) noexcept
      : fd_(fd), directory_(std::move(directory)), name_(std::move(name)) {}
  ~CreatedFile();
  CreatedFile(CreatedFile&&) noexcept = default;
  CreatedFile& operator=(CreatedFile&&) = delete;

  /// Gives it spec.file_size bytes, allocated unless spec.sparse, and brings it and its name to
  /// stable storage. Throws Error.
  void fill(const ExportSpec& spec) const;

  void keep() noexcept { directory_.reset(); }

 private:
  int fd_;
  UniqueFd directory_;
  std::string name_;
};

/// Throws the Error that it cannot be opened. @param error an errno value.
[[noreturn]] void fail_to_open(const ExportSpec& spec, int error);

/// Checks that what stands behind an export is of a kind that can. Throws Error.
void check_file_kind(const ExportSpec& spec, mode_t mode);

/// Checks that a file that is missing is to be made. Throws Error.
void check_may_create(const ExportSpec& spec);

struct OpenedFile {
  UniqueFd fd;
  bool block_device = false;
  std::optional<CreatedFile> created;  ///< when it was missing
};

/// Opens the file of an export, or makes it, empty. A block device that is to be written is opened
/// for this process alone; blocks while another has it, as `patience` has it. Throws Error.
OpenedFile open_export_file(const ExportSpec& spec, const Patience& patience);

}  // namespace rdmablk::target
