#include "initiator/cli/mapping/map_record.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "initiator/cli/mapping/map_links.h"
#include "initiator/cli/mapping/map_lock.h"

namespace rdmablk::cli::mapping {
namespace {

namespace fs = std::filesystem;

class MapRecordTest : public testing::Test {
 protected:
  MapRecordTest() {
    std::string name = testing::TempDir() + "map-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    roots_ = {.run = directory_ / "run", .dev = directory_ / "dev"};
  }
  ~MapRecordTest() override { fs::remove_all(directory_); }

  fs::path directory_;
  MapRoots roots_;
  MapRecord record_{.uri = parse_uri("rdmablk://h/disk"),
                    .name = "data",
                    .uuid = "00112233-4455-6677-8899-aabbccddeeff",
                    .device = "loop3",
                    .read_only = true};
};

TEST_F(MapRecordTest, SaysTheSameWhenItIsReadAgain) {
  const auto again = MapRecord::parse(record_.text());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text(), record_.text());
  EXPECT_EQ(again->device_path(), "/dev/loop3");
}

TEST_F(MapRecordTest, IsNoneWhenItIsDamaged) {
  for (const char* text : {"", "{", "[]", "{}", "null", R"({"uri": 7})"}) {
    EXPECT_FALSE(MapRecord::parse(text)) << text;
  }
  for (const char* device : {"sda", "loop", "loop3/..", "loop12345678", "../loop3"}) {
    record_.device = device;
    EXPECT_FALSE(MapRecord::parse(record_.text())) << device;
  }
}

TEST_F(MapRecordTest, IsFoundInItsPlace) {
  EXPECT_TRUE(read_map_records(roots_).empty());
  const MapPlace place(roots_, record_.uri);
  {
    const MapLock lock = MapLock::make(place);
    record_.write(place);
  }
  EXPECT_FALSE(MapLock::take(MapPlace(roots_, parse_uri("rdmablk://h/other"))));
  EXPECT_TRUE(MapLock::take(place));
  ASSERT_EQ(read_map_records(roots_).size(), 1U);
  EXPECT_EQ(read_map_records(roots_).front().text(), record_.text());
}

TEST_F(MapRecordTest, NamesItsDevice) {
  write_udev_file(roots_, record_);
  make_links(roots_, record_);
  make_links(roots_, record_);
  const MapPlace place(roots_, record_.uri);
  for (const std::string& link :
       {place.link, roots_.uuid_link(record_.uuid), roots_.name_link("data")}) {
    EXPECT_EQ(device_behind(link), "loop3") << link;
  }
  // A link that was taken over by another device stays.
  MapRecord other = record_;
  other.device = "loop4";
  other.uri.export_name = "other";
  other.name = "other";
  make_links(roots_, other);
  remove_links(roots_, record_);
  EXPECT_EQ(device_behind(place.link), "");
  EXPECT_EQ(device_behind(roots_.uuid_link(record_.uuid)), "loop4");
  remove_links(roots_, other);
  EXPECT_FALSE(fs::exists(roots_.dev));
  EXPECT_FALSE(fs::exists(roots_.udev_file("loop3")));
}

}  // namespace
}  // namespace rdmablk::cli::mapping
