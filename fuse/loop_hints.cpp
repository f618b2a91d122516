#include "fuse/loop_hints.h"

#include <fmt/format.h>

#include <string_view>

namespace rdmablk::fuse {

namespace {

/// As a shell reads it.
std::string quoted(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string LoopHints::text() const {
  const std::string file = quoted(image);
  std::string text = fmt::format("The image is {}.\n", file);
  text += closed_to_root
              ? "A file system on it (as root, who may use a mount made with -o allow_other):\n"
              : "A file system on it (as root):\n";
  if (read_only) {
    text += fmt::format(
        "  device=$(losetup --read-only --direct-io=on --find --show {})\n"
        "  mount -o ro \"$device\" /mnt\n",
        file);
  } else {
    text += fmt::format(
        "  device=$(losetup --direct-io=on --find --show {})\n"
        "  mkfs.ext4 \"$device\"     # the first time\n"
        "  mount \"$device\" /mnt\n",
        file);
  }
  text +=
      fmt::format("The way back: umount /mnt; losetup --detach \"$device\"; rdmablk unmount {}\n",
                  quoted(mount_point));
  return text;
}

}  // namespace rdmablk::fuse
