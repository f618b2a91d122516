#include "initiator/cli/mapping/map_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "initiator/cli/mapping/unit_name.h"

namespace rdmablk::cli::mapping {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(UnitName, IsThatOfSystemdEscape) {
  EXPECT_EQ(escape_path("/dev/rdmablk/by-name/x"), "dev-rdmablk-by\\x2dname-x");
  EXPECT_EQ(escape_path("/dev/a_b:c.d@1/e+2f"), "dev-a_b:c.d\\x401-e\\x2b2f");
  EXPECT_EQ(escape_path("/.x/"), "\\x2ex");
  EXPECT_EQ(escape_path("/"), "-");
}

TEST(MapGenerator, IsKnownByItsName) {
  EXPECT_TRUE(is_map_generator("/usr/lib/systemd/system-generators/rdmablk-map-generator"));
  EXPECT_FALSE(is_map_generator("rdmablk"));
}

TEST(MapGenerator, HasAServiceForEachLine) {
  std::string name = testing::TempDir() + "units-XXXXXX";
  const fs::path directory = ::mkdtemp(name.data());
  const Maptab table = parse_maptab(
      "data rdmablk://h/disk\nlater rdmablk://h:1/other noauto\n"
      "near rdmablk://[fe80::1%v0]/disk cm=tcp,noauto\n",
      "maptab");
  generate_units(table, MapRoots(), directory);
  std::vector<std::string> made;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_symlink()) made.push_back(entry.path().lexically_relative(directory));
  }
  EXPECT_THAT(made, UnorderedElementsAre(
                        "remote-fs.target.wants/rdmablk-map@data.service",
                        "dev-rdmablk-h-disk.device.requires/rdmablk-map@data.service",
                        "dev-rdmablk-by\\x2dname-data.device.requires/rdmablk-map@data.service",
                        "dev-rdmablk-h\\x401-other.device.requires/rdmablk-map@later.service",
                        "dev-rdmablk-by\\x2dname-later.device.requires/rdmablk-map@later.service",
                        "dev-rdmablk-fe80::1\\x2b25v0\\x4010813-disk.device.requires/"
                        "rdmablk-map@near.service",
                        "dev-rdmablk-by\\x2dname-near.device.requires/rdmablk-map@near.service"));
  fs::remove_all(directory);
}

TEST(MapGenerator, HasMountsEndBeforeATarget) {
  std::string name = testing::TempDir() + "units-XXXXXX";
  const fs::path directory = ::mkdtemp(name.data());
  std::ofstream(directory / "fstab") << "rdmablk://h/disk /mnt/a\\040b rdmablk _netdev 0 0\n"
                                        "# rdmablk://h/c /mnt/c rdmablk _netdev 0 0\n"
                                        "/dev/sda1 / ext4 defaults 0 1\n"
                                        "rdmablk://h/swap none rdmablk noauto 0 0\n";
  order_mounts(directory / "fstab", directory / "units");
  std::vector<std::string> made;
  for (const auto& entry : fs::recursive_directory_iterator(directory / "units")) {
    if (entry.is_regular_file()) made.push_back(entry.path().lexically_relative(directory));
  }
  EXPECT_THAT(made, ElementsAre("units/mnt-a\\x20b.mount.d/50-rdmablk.conf"));
  std::ifstream drop_in(directory / made.at(0));
  const std::string text(std::istreambuf_iterator<char>(drop_in), {});
  EXPECT_EQ(text, "[Unit]\nAfter=rdmablk-target.service\n");
  EXPECT_NO_THROW(order_mounts(directory / "none", directory / "units"));
  fs::remove_all(directory);
}

}  // namespace
}  // namespace rdmablk::cli::mapping
