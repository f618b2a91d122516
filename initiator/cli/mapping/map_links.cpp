#include "initiator/cli/mapping/map_links.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "common/error.h"

namespace rdmablk::cli::mapping {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> links_of(const MapRoots& roots, const MapRecord& record) {
  std::vector<std::string> links{MapPlace(roots, record.uri).link};
  if (!record.uuid.empty()) links.push_back(roots.uuid_link(record.uuid));
  if (!record.name.empty()) links.push_back(roots.name_link(record.name));
  return links;
}

/// A link that is there is replaced, so that there is one at any time.
void make_link(const fs::path& link, const fs::path& target) {
  std::error_code error;
  fs::create_directories(link.parent_path(), error);
  const fs::path temporary = link.parent_path() / ("." + link.filename().string() + ".new");
  fs::remove(temporary, error);
  fs::create_symlink(target.lexically_relative(link.parent_path()), temporary, error);
  if (!error) fs::rename(temporary, link, error);
  if (error) throw SystemError(fmt::format("make the link {}", link.string()), error.value());
}

/// Names in /dev without that.
std::string below_dev(const std::string& path) {
  constexpr std::string_view kDev = "/dev/";
  return path.starts_with(kDev) ? path.substr(kDev.size()) : path;
}

}  // namespace

std::string device_behind(const std::string& link) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  return error ? std::string() : target.filename().string();
}

void write_udev_file(const MapRoots& roots, const MapRecord& record) {
  const fs::path file = roots.udev_file(record.device);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::string text = fmt::format("RDMABLK_URI={}\nRDMABLK_LINK={}\n", record.uri.text(),
                                 below_dev(MapPlace(roots, record.uri).link));
  if (!record.uuid.empty()) {
    text += fmt::format("RDMABLK_UUID_LINK={}\n", below_dev(roots.uuid_link(record.uuid)));
  }
  if (!record.name.empty()) {
    text += fmt::format("RDMABLK_NAME_LINK={}\n", below_dev(roots.name_link(record.name)));
  }
  write_whole(file, text);
}

void make_links(const MapRoots& roots, const MapRecord& record) {
  for (const std::string& link : links_of(roots, record)) make_link(link, record.device_path());
}

void remove_links(const MapRoots& roots, const MapRecord& record) noexcept {
  std::error_code error;
  if (record.device.empty()) return;
  fs::remove(roots.udev_file(record.device), error);
  fs::remove(fs::path(roots.udev_file(record.device)).parent_path(), error);
  for (const std::string& link : links_of(roots, record)) {
    if (device_behind(link) == record.device) fs::remove(link, error);
    fs::remove(fs::path(link).parent_path(), error);  // if it is empty
  }
  fs::remove(roots.dev, error);
}

}  // namespace rdmablk::cli::mapping
