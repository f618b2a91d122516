#include "tests/fuzz/target_world.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "tests/fuzz/input.h"
#include "tests/fuzz/scripted_device.h"

namespace rdmablk::fuzz {
namespace {

// Small, so that inputs reach them.
constexpr std::size_t kAttachments = 3;
constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kSlotSize = 8192;
constexpr std::uint64_t kSlotMemory = std::uint64_t{512} << 10;

}  // namespace

TargetWorld::TargetWorld()
    : folder_(std::filesystem::temp_directory_path() / "rdmablk-fuzz-XXXXXX"),
      budget_(kSlotMemory) {
  require(::mkdtemp(folder_.data()) != nullptr, "there is a folder for states");
  state_ = std::make_unique<target::StateDirectory>(folder_);
  limits_.attachments = kAttachments;
  limits_.slots = kSlots;
  limits_.slot_size = kSlotSize;
  add(fmt::format("disk=memory:{},chunk=16K", kSize));
  add(fmt::format("rom=memory:{},readonly", kSize));
  add_file("file", "");
  add_file("file-rom", ",readonly");
  add_file("kept", ",resident");
  add(fmt::format("lent=memory:{},allow=alice,allow=bob:ro", kSize));
  add(fmt::format("nearby=memory:{},allow=*:ro@192.0.2.0/24,allow=bob@192.0.2.0/24", kSize));
}

const TargetWorld& TargetWorld::get() {
  static const TargetWorld made;
  return made;
}

std::optional<protocol::Access> TargetWorld::may_have(std::string_view name,
                                                      std::string_view client,
                                                      std::string_view address) {
  using protocol::Access;
  const bool is_near = address.starts_with("192.0.2.");
  if (name == "lent") {
    if (client == "alice") return Access::read_write;
    return client == "bob" ? std::optional(Access::read_only) : std::nullopt;
  }
  if (name == "nearby") {
    if (!is_near) return std::nullopt;
    return client == "bob" ? Access::read_write : Access::read_only;
  }
  return Access::read_write;
}

TargetWorld::~TargetWorld() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void TargetWorld::add_file(std::string_view name, std::string_view options) {
  UniqueFd memory(::memfd_create("export", MFD_CLOEXEC));
  require(::ftruncate(memory.get(), kSize) == 0, "there is memory for a file");
  add(fmt::format("{}=file:/proc/self/fd/{},direct=off{}", name, memory.get(), options));
  memory_.push_back(std::move(memory));
}

void TargetWorld::add(std::string_view text) {
  target::ExportSpec spec = target::parse_export_spec(text);
  std::unique_ptr<target::FileStore> store;
  if (spec.has_file()) {
    store = std::make_unique<target::FileStore>(spec, static_cast<unsigned>(memory_.size()));
    spec.size = store->file().size();
  }
  const std::array devices{scripted_context()};
  exports_.push_back(std::make_unique<target::Export>(
      spec, std::move(store), std::nullopt, devices,
      target::Export::Options{.state = state_.get(), .boot = "fuzz", .budget = &budget_}));
  catalog_.add(exports_.back()->offer(scripted_context()));
}

std::vector<int> TargetWorld::files() const {
  std::vector<int> files;
  for (const auto& made : exports_) {
    if (made->store() != nullptr) files.push_back(made->store()->file().fd());
  }
  return files;
}

}  // namespace rdmablk::fuzz
