// plain-fuse SIZE MOUNTPOINT: a file of SIZE bytes (K, M, G) of this process's memory over the
// regular file MOUNTPOINT, in the foreground, until it is unmounted or SIGTERM comes.
//
// It is what libfuse makes easy: its own loop with two threads, and one memcpy between the memory
// and a buffer a request. The bench shows it beside `rdmablk-fuse --null`, so that a slow FUSE
// layer there would be seen.

#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr unsigned kThreads = 2;
constexpr std::size_t kMaxPayload = std::size_t{1} << 20U;
constexpr unsigned kMaxBackground = 128;
constexpr double kForever = 1e9;

struct Image {
  std::byte* memory;
  std::uint64_t size;
};

const Image& image(fuse_req_t request) {
  return *static_cast<const Image*>(fuse_req_userdata(request));
}

std::size_t within(const Image& image, std::size_t size, off_t offset) {
  const auto start = std::min(static_cast<std::uint64_t>(offset), image.size);
  return std::min<std::uint64_t>(size, image.size - start);
}

void init(void* /*user_data*/, fuse_conn_info* connection) {
  connection->max_write = connection->max_read = kMaxPayload;
  connection->max_background = connection->congestion_threshold = kMaxBackground;
  connection->want |= connection->capable & FUSE_CAP_ASYNC_DIO;
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE);
}

void get_attributes(fuse_req_t request, fuse_ino_t node, fuse_file_info* /*file*/) {
  struct stat status {};
  status.st_ino = node;
  status.st_mode = S_IFREG | 0600;
  status.st_nlink = 1;
  status.st_size = static_cast<off_t>(image(request).size);
  fuse_reply_attr(request, &status, kForever);
}

void open(fuse_req_t request, fuse_ino_t /*node*/, fuse_file_info* /*file*/) {
  fuse_open_out answer{};  // libfuse 3.14 has no field for parallel direct writes
  answer.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES | FOPEN_NOFLUSH;
  fuse_reply_buf(request, reinterpret_cast<const char*>(&answer), sizeof answer);
}

void read(fuse_req_t request, fuse_ino_t /*node*/, std::size_t size, off_t offset,
          fuse_file_info* /*file*/) {
  thread_local std::vector<char> buffer(kMaxPayload);
  const std::size_t count = std::min(within(image(request), size, offset), buffer.size());
  std::memcpy(buffer.data(), image(request).memory + offset, count);
  fuse_reply_buf(request, buffer.data(), count);
}

void write(fuse_req_t request, fuse_ino_t /*node*/, const char* data, std::size_t size,
           off_t offset, fuse_file_info* /*file*/) {
  const std::size_t count = within(image(request), size, offset);
  if (count == 0) {
    fuse_reply_err(request, ENOSPC);
    return;
  }
  std::memcpy(image(request).memory + offset, data, count);
  fuse_reply_write(request, count);
}

fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops ops{};
  ops.init = &init;
  ops.getattr = &get_attributes;
  ops.open = &open;
  ops.read = &read;
  ops.write = &write;
  return ops;
}

std::uint64_t parse_size(const char* text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  const std::string unit(end);
  if (unit.empty()) return number;
  if (unit == "K") return number << 10U;
  if (unit == "M") return number << 20U;
  return unit == "G" ? number << 30U : 0;
}

int loop(fuse_session* session) {
  fuse_loop_config* const config = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(config, kThreads);
  fuse_loop_cfg_set_idle_threads(config, kThreads);
  fuse_loop_cfg_set_clone_fd(config, 1);
  const int result = fuse_session_loop_mt(session, config);
  fuse_loop_cfg_destroy(config);
  return result;
}

int serve(Image& memory, const char* mount_point) {
  std::string words[] = {"plain-fuse", "-o",
                         "fsname=plain-fuse,default_permissions,max_read=1048576"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(3, argv);
  const fuse_lowlevel_ops ops = operations();
  fuse_session* const session = fuse_session_new(&arguments, &ops, sizeof ops, &memory);
  fuse_opt_free_args(&arguments);
  if (session == nullptr) return EXIT_FAILURE;
  int result = -1;
  if (fuse_set_signal_handlers(session) == 0) {
    if (fuse_session_mount(session, mount_point) == 0) {
      result = loop(session);
      fuse_session_unmount(session);
    }
    fuse_remove_signal_handlers(session);
  }
  fuse_session_destroy(session);
  return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  Image memory{nullptr, argc == 3 ? parse_size(argv[1]) : 0};
  if (memory.size == 0) {
    std::fprintf(stderr, "Usage: plain-fuse SIZE[K|M|G] MOUNTPOINT\n");
    return 2;
  }
  void* const place = ::mmap(nullptr, memory.size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (place == MAP_FAILED) {
    std::fprintf(stderr, "plain-fuse: cannot have %s of memory: %s\n", argv[1],
                 std::strerror(errno));
    return EXIT_FAILURE;
  }
  memory.memory = static_cast<std::byte*>(place);
  return serve(memory, argv[2]);
}
