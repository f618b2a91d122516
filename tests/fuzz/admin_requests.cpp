// What users of the administration socket say: a line at a time, JSON or anything else. Read, or
// refused with a reason of one line; and whatever is answered is JSON on a line.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/export_name.h"
#include "target/admin_reply.h"
#include "target/admin_request.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

using nlohmann::json;

bool is_line(const std::string& text) {
  return std::ranges::none_of(text, [](char c) { return c == '\n' || c == '\0'; });
}

/// A reply can be read, and repeats the id.
void check_reply(const std::string& reply, const std::string& id) {
  require(is_line(reply), "a reply is a line");
  const json read = json::parse(reply, nullptr, false);
  require(read.is_object() && read.at("version") == 1, "a reply has a version");
  require(read.at("id") == json::parse(id), "a reply repeats the id");
}

void check(const target::AdminRefusal& refusal) {
  require(!refusal.reason.empty() && refusal.reason.size() < 20000, "a refusal has a reason");
  check_reply(target::error_reply(refusal.id, refusal.reason, refusal.is_usage), refusal.id);
}

void check(const target::ExportAddition& order) {
  require(is_export_name(order.spec.name), "an export has a name");
  require(!order.spec.has_file() || order.spec.path.starts_with('/'), "a path is absolute");
  require(order.spec.save.empty() || order.spec.save.starts_with('/'), "so is that of a save");
  require(order.spec.has_file() || order.spec.size % 512 == 0, "a size is one of sectors");
}

void check(const target::ExportRemoval& order) {
  require(is_export_name(order.name), "an export has a name");
}

void check(const target::ExportResizing& order) {
  require(is_export_name(order.name), "an export has a name");
  require(order.bytes > 0 && order.bytes % 512 == 0, "a size is one of sectors");
}

void check(const target::SessionEviction& order) {
  require(!order.reason.empty() && is_line(order.reason), "an eviction has a reason");
}

template <typename Order>
void check(const Order& /*order*/) {}

void check(const target::AdminRequest& request) {
  std::visit([](const auto& order) { check(order); }, request.order);
  require(is_line(request.text()), "a request is logged on a line");
  check_reply(target::done_reply(request.id), request.id);
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmablk;
  const std::string_view line{reinterpret_cast<const char*>(data), size};
  std::visit([](const auto& read) { fuzz::check(read); }, target::decode_admin_request(line));
  return 0;
}
