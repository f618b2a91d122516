// The initiator against any target: it connects, says HELLO, has the target prove itself, lists,
// attaches and makes an I/O queue. Whatever comes back, each step succeeds or fails with an Error,
// and none hangs.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/error.h"
#include "common/unique_fd.h"
#include "common/units.h"
#include "initiator/image.h"
#include "initiator/queue.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/known_clients.h"
#include "tests/fuzz/scripted_random.h"
#include "tests/fuzz/scripted_target.h"

namespace rdmablk::fuzz {
namespace {

/// The first client's. Its file is gone when it would be read again, and the key stays.
const initiator::Credentials& credentials() {
  static const initiator::Credentials made = [] {
    std::string path = std::filesystem::temp_directory_path() / "rdmablk-fuzz-XXXXXX";
    const UniqueFd file(::mkstemp(path.data()));
    const std::string line = fmt::format("{} {}", kClients[0], key_of_number(0).text().view());
    require(::write(file.get(), line.data(), line.size()) > 0, "there is a key file");
    initiator::Credentials read(path);
    ::unlink(path.c_str());
    return read;
  }();
  return made;
}

/// What the initiator is asked to do.
struct Wishes {
  explicit Wishes(Input& input) : reads(input.flag()), lists(input.flag()), has_key(input.flag()) {}

  bool reads;
  bool lists;
  bool has_key;
};

/// Of answers that have not come by then, none will.
initiator::SessionOptions session_options(const Wishes& wishes) {
  initiator::SessionOptions options;
  options.timeout = std::chrono::milliseconds(100);
  if (wishes.has_key) options.credentials = credentials();
  return options;
}

void use_target(const Wishes& wishes, const ScriptedTarget& target) {
  initiator::AttachOptions options;
  options.access = wishes.reads ? protocol::Access::read_only : protocol::Access::read_write;
  options.depth = 4;
  options.max_io = 1U << 17U;
  const auto session = initiator::Session::connect({"127.0.0.1", 10812}, session_options(wishes));
  target.witness().on_open();
  if (wishes.lists) session->list();
  const auto image = session->attach("disk", options);
  const auto info = image->info();
  require(info.size > 0 && info.size % kSectorSize == 0, "an image is of whole sectors");
  const auto queue = image->make_queue(options.depth);
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::restart_random();
  rdmablk::fuzz::Input input(data, size);
  const rdmablk::fuzz::Wishes wishes(input);
  rdmablk::fuzz::ScriptedTarget target(input, wishes.has_key);
  try {
    rdmablk::fuzz::use_target(wishes, target);
  } catch (const rdmablk::Error&) {  // and nothing else
  }
  return 0;
}
