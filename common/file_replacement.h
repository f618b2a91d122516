#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "common/unique_fd.h"

namespace rdmablk {

/// A file that is made beside another and takes its place as a whole: whoever looks finds the old
/// content or the new. It goes away with the object unless it has taken its place by then.
class FileReplacement {
 public:
  /// Makes it, empty. What an earlier process has left under its name goes away; a link there is
  /// not followed. Throws SystemError.
  /// @param directory an open one that the names are relative to, which stays open; or AT_FDCWD.
  /// @param name that it will have. @param temporary that it has until then, in the same directory.
  FileReplacement(int directory, std::string name, std::string temporary, mode_t mode);
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  int fd() const noexcept { return fd_.get(); }

  /// Appends. Throws SystemError.
  void write(std::string_view content) const;

  /// Brings the content to stable storage: before it takes its place, for one that is to be there
  /// after a crash of the machine, whose directory is brought there afterwards. Throws SystemError.
  void sync() const;

  /// Takes its place. Of no use after that. Throws SystemError.
  /// @return the file, still open.
  UniqueFd take_place();

 private:
  int directory_;
  std::string name_;
  std::string temporary_;
  UniqueFd fd_;
};

}  // namespace rdmablk
