// rdmablk-forgetful-fs: a file that forgets, to test that what is said to be durable is. Mounts a
// file system with two files:
//
//   disk      a disk with a volatile write cache: what is written is held in memory until fsync, or
//   a
//             write with O_DSYNC, and then goes to the backing file. SIGKILL is the power cut.
//             Closing and unmounting persist nothing.
//   control   a line written to it orders faults (tests/faults/fault_plan.h); reading it tells what
//   was
//             done.
//
// All reads and writes come here at once, opened with O_DIRECT or not, and at any byte; the
// kernel's statx knows no alignment (STATX_DIOALIGN) of FUSE files. --alignment makes it as strict
// as a block device to those that opened it with O_DIRECT. Locks are the kernel's. SEEK_HOLE finds
// no hole.

#define FUSE_USE_VERSION 314

#include <fcntl.h>
#include <fmt/format.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/arguments.h"
#include "common/error.h"
#include "common/log.h"
#include "tests/faults/forgetful_disk.h"

namespace {

using namespace rdmablk;           // NOLINT(google-build-using-namespace)
using namespace rdmablk::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kProgram = "rdmablk-forgetful-fs";
constexpr fuse_ino_t kDisk = 2;
constexpr fuse_ino_t kControl = 3;
constexpr double kForever = 1e9;
constexpr unsigned kThreads = 64;  // delayed requests keep theirs

using Outcome = ForgetfulDisk::Outcome;

ForgetfulDisk& disk_of(fuse_req_t request) {
  return *static_cast<ForgetfulDisk*>(fuse_req_userdata(request));
}

struct stat status_of(fuse_req_t request, fuse_ino_t ino) {
  struct stat status {};
  status.st_ino = ino;
  status.st_mode = ino == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0600;
  status.st_nlink = 1;
  status.st_blksize = 4096;
  if (ino == kDisk) {
    status.st_size = static_cast<off_t>(disk_of(request).size());
    status.st_blocks = status.st_size / 512;
  }
  return status;
}

/// Without asynchronous direct I/O: there the kernel turns short writes into EIO by itself.
void init(void* /*disk*/, fuse_conn_info* connection) {
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_ASYNC_DIO);
}

void lookup(fuse_req_t request, fuse_ino_t /*parent*/, const char* name) {
  fuse_entry_param entry{};
  if (std::strcmp(name, "disk") == 0) entry.ino = kDisk;
  if (std::strcmp(name, "control") == 0) entry.ino = kControl;
  if (entry.ino == 0) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  entry.attr = status_of(request, entry.ino);
  entry.attr_timeout = entry.entry_timeout = kForever;
  fuse_reply_entry(request, &entry);
}

void getattr(fuse_req_t request, fuse_ino_t ino, fuse_file_info* /*file*/) {
  const struct stat status = status_of(request, ino);
  fuse_reply_attr(request, &status, kForever);
}

/// Takes whatever does not change the disk's size; shells truncate `control`.
void setattr(fuse_req_t request, fuse_ino_t ino, struct stat* wanted, int what,
             fuse_file_info* file) {
  const bool resizes = ino == kDisk && (what & FUSE_SET_ATTR_SIZE) != 0 &&
                       wanted->st_size != status_of(request, ino).st_size;
  if (resizes) {
    fuse_reply_err(request, EPERM);
  } else {
    getattr(request, ino, file);
  }
}

void readdir(fuse_req_t request, fuse_ino_t /*ino*/, std::size_t size, off_t offset,
             fuse_file_info* /*file*/) {
  static constexpr std::array kNames{".", "..", "disk", "control"};
  static constexpr std::array<fuse_ino_t, 4> kNodes{FUSE_ROOT_ID, FUSE_ROOT_ID, kDisk, kControl};
  std::vector<char> answer(size);
  std::size_t used = 0;
  for (auto i = static_cast<std::size_t>(offset); i < kNames.size(); ++i) {
    const struct stat status = status_of(request, kNodes.at(i));
    const std::size_t takes = fuse_add_direntry(request, answer.data() + used, size - used,
                                                kNames.at(i), &status, static_cast<off_t>(i) + 1);
    if (takes > size - used) break;
    used += takes;
  }
  fuse_reply_buf(request, answer.data(), used);
}

void open(fuse_req_t request, fuse_ino_t ino, fuse_file_info* /*file*/) {
  if (ino == FUSE_ROOT_ID) {
    fuse_reply_err(request, EISDIR);
    return;
  }
  // Written by hand, as libfuse 3.14 has no field for one of the flags.
  fuse_open_out answer{};
  answer.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES | FOPEN_NOFLUSH;
  fuse_reply_buf(request, reinterpret_cast<const char*>(&answer), sizeof answer);
}

void read_control(fuse_req_t request, std::size_t size, std::size_t offset) {
  const std::string report = disk_of(request).report();
  const std::string_view rest = std::string_view(report).substr(std::min(offset, report.size()));
  fuse_reply_buf(request, rest.data(), std::min(size, rest.size()));
}

void read(fuse_req_t request, fuse_ino_t ino, std::size_t size, off_t offset,
          fuse_file_info* file) {
  const auto start = static_cast<std::uint64_t>(offset);
  if (ino == kControl) {
    read_control(request, size, start);
    return;
  }
  std::vector<std::byte> data(size);
  const Outcome outcome = disk_of(request).read(start, data, file->flags);
  if (outcome.error != 0) {
    fuse_reply_err(request, outcome.error);
  } else {
    fuse_reply_buf(request, reinterpret_cast<const char*>(data.data()), outcome.bytes);
  }
}

void write_control(fuse_req_t request, std::string_view line) {
  try {
    disk_of(request).order_fault(line);
    fuse_reply_write(request, line.size());
  } catch (const Error& error) {
    print_error(kProgram, error.what());
    fuse_reply_err(request, EINVAL);
  }
}

void write(fuse_req_t request, fuse_ino_t ino, const char* bytes, std::size_t size, off_t offset,
           fuse_file_info* file) {
  if (ino == kControl) {
    write_control(request, {bytes, size});
    return;
  }
  const std::span data(reinterpret_cast<const std::byte*>(bytes), size);
  const Outcome outcome =
      disk_of(request).write(static_cast<std::uint64_t>(offset), data, file->flags);
  if (outcome.error != 0) {
    fuse_reply_err(request, outcome.error);
  } else {
    fuse_reply_write(request, outcome.bytes);
  }
}

void fsync(fuse_req_t request, fuse_ino_t ino, int /*datasync*/, fuse_file_info* /*file*/) {
  fuse_reply_err(request, ino == kDisk ? disk_of(request).sync().error : 0);
}

void fallocate(fuse_req_t request, fuse_ino_t ino, int mode, off_t offset, off_t length,
               fuse_file_info* /*file*/) {
  const auto start = static_cast<std::uint64_t>(offset);
  const auto size = static_cast<std::uint64_t>(length);
  fuse_reply_err(request,
                 ino == kDisk ? disk_of(request).allocate(start, size, mode).error : EOPNOTSUPP);
}

constexpr fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops ops{};
  ops.init = init;
  ops.lookup = lookup;
  ops.getattr = getattr;
  ops.setattr = setattr;
  ops.readdir = readdir;
  ops.open = open;
  ops.read = read;
  ops.write = write;
  ops.fsync = fsync;
  ops.fallocate = fallocate;
  return ops;
}

struct DestroySession {
  void operator()(fuse_session* session) const noexcept {
    fuse_session_unmount(session);
    fuse_remove_signal_handlers(session);
    fuse_session_destroy(session);
  }
};

struct DestroyLoopConfig {
  void operator()(fuse_loop_config* config) const noexcept { fuse_loop_cfg_destroy(config); }
};

void serve(const std::string& mount_point, const ForgetfulDisk::Settings& settings) {
  ForgetfulDisk disk(settings);
  std::array arguments{std::string(kProgram), std::string("-ofsname=rdmablk-forgetful-fs")};
  std::array pointers{arguments[0].data(), arguments[1].data()};
  fuse_args args = FUSE_ARGS_INIT(static_cast<int>(pointers.size()), pointers.data());
  constexpr fuse_lowlevel_ops ops = operations();
  const std::unique_ptr<fuse_session, DestroySession> session(
      fuse_session_new(&args, &ops, sizeof ops, &disk));
  fuse_opt_free_args(&args);
  if (!session) throw Error("libfuse makes no session; it says why above");
  if (fuse_set_signal_handlers(session.get()) != 0 ||
      fuse_session_mount(session.get(), mount_point.c_str()) != 0) {
    throw Error(fmt::format("cannot mount on {}; libfuse says why above", mount_point));
  }
  const std::unique_ptr<fuse_loop_config, DestroyLoopConfig> config(fuse_loop_cfg_create());
  fuse_loop_cfg_set_max_threads(config.get(), kThreads);
  fuse_session_loop_mt(session.get(), config.get());
}

int run(int argc, char** argv) {
  std::string mount_point;
  ForgetfulDisk::Settings settings;
  CLI::App app("Shows a file as a disk that loses at SIGKILL whatever was not flushed.");
  app.name(kProgram);
  app.add_option("MOUNTPOINT", mount_point, "a directory")->required();
  app.add_option("BACKING_FILE", settings.backing_path, "where flushed data goes")->required();
  app.add_option("--reorder", settings.reorder_seed,
                 "persist random sectors now and then; takes the seed of it");
  app.add_option("--alignment", settings.alignment, "what O_DIRECT requests must be multiples of")
      ->check(CLI::PositiveNumber);
  app.add_flag("--no-fallocate", settings.no_fallocate, "refuse to punch holes and zero ranges");
  if (!read_arguments(app, argc, argv)) return kExitDone;
  serve(mount_point, settings);
  return kExitDone;
}

}  // namespace

int main(int argc, char** argv) {
  return rdmablk::run_program(kProgram, &run, argc, argv);
}
