#include "initiator/cli/mapping/map_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "initiator/cli/mapping/unit_name.h"

namespace rdmablk::cli::mapping {
namespace {

namespace fs = std::filesystem;
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
  const Maptab table =
      parse_maptab("data rdmablk://h/disk\nlater rdmablk://h:1/other noauto\n", "maptab");
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
                        "dev-rdmablk-by\\x2dname-later.device.requires/rdmablk-map@later.service"));
  fs::remove_all(directory);
}

}  // namespace
}  // namespace rdmablk::cli::mapping
