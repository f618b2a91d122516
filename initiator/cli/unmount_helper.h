#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmablk::cli {

/// Whether the program was started as umount.rdmablk, or umount.fuse.rdmablk: what umount(8) runs
/// for our mounts, so that it returns when all is with the target and rdmablk-fuse has ended.
/// @param name its argv[0].
bool is_umount_helper(std::string_view name);

/// The command of `rdmablk` that does what umount(8) asks for:
/// umount.TYPE DIR [-flnrv] [-N NAMESPACE] [-t TYPE]
/// Goes to that namespace.
/// @return nothing when it asked for help or the version. Throws UsageError, SystemError.
std::optional<std::vector<std::string>> unmount_words(int argc, const char* const* argv);

/// @return the exit status, as of umount(8): 0 done, 1 usage, 32 failed.
int run_umount_helper(int argc, char** argv);

}  // namespace rdmablk::cli
