#include "target/config_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "error_of.h"
#include "target/config_export.h"
#include "target/config_writer.h"

namespace rdmablk::target {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ExportSpec spec_of(const std::string& text) {
  ExportSpec spec = parse_export_spec(text);
  spec.origin = ExportOrigin::configuration;
  return spec;
}

ExportSpec read(const std::string& text) {
  Complaints complaints;
  const auto entries = parse_config_text(text, "test");
  auto spec = read_export(entries.at(0).value.entries.at(0), complaints);
  complaints.raise();
  return spec.value();
}

TEST(ExportText, IsReadAsTheSame) {
  for (const auto* const text :
       {"a=memory:512", "a.b-c_d=memory:4G,huge=2M,chunk=4M,shared,save=/a/b",
        "1=memory:1M,chunk=64K,readonly", "a=file:/srv/a", "a=file:/a,size=513K,sparse,direct=off",
        "a=file:/a,resident,huge=2M,direct=on,readonly", "a=file:/a,resident,chunk=1M,shared",
        "a=memory:1M,allow=alice,allow=bob:ro@192.0.2.0/24,allow=*:ro@2001:db8::/32"}) {
    EXPECT_EQ(read(export_text(spec_of(text))), spec_of(text)) << text;
  }
}

/// Whatever bytes a path has, as long as they are text.
TEST(ExportText, EscapesPaths) {
  std::minstd_rand random(1);  // NOLINT(cert-msc51-cpp): the same each time
  const std::vector<std::string> letters{"\"", "'", "\\", "\n", "\t", "\x01",     "\x7F",
                                         "#",  "=", "]",  "[",  "\r", "\xC3\xA4", " ",
                                         "/",  "u", "0",  "\b", "\f", "\x1B",     "\xE2\x80\xA8"};
  for (int round = 0; round < 500; ++round) {
    std::string path = "/";
    for (auto i = random() % 20; i > 0; --i) path += letters[random() % letters.size()];
    ExportSpec spec = spec_of("a=file:/a");
    spec.path = path + "x";
    EXPECT_EQ(read(export_text(spec)), spec) << path;
  }
}

TEST(ExportText, RefusesWhatIsNoText) {
  ExportSpec spec = spec_of("a=file:/a");
  spec.path = "/\xFF\xFE";
  EXPECT_THAT(error_of<Error>([&] { export_text(spec); }), HasSubstr("'a'"));
}

class ConfigStoreTest : public testing::Test {
 protected:
  ~ConfigStoreTest() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name) const { return directory_ + "/target.d/" + name; }

  std::string content(const std::string& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ + "/target.d")) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  static std::string make_directory() {
    std::string pattern = testing::TempDir() + "config_store-XXXXXX";
    return ::mkdtemp(pattern.data());
  }

  std::string directory_ = make_directory();
  ConfigStore store_{directory_ + "/target.toml"};
};

TEST_F(ConfigStoreTest, KeepsExports) {
  store_.keep(spec_of("a=memory:1M"));
  EXPECT_TRUE(store_.keeps("a"));
  EXPECT_EQ(read(content("a.toml")), spec_of("a=memory:1M"));
  store_.keep(spec_of("a=memory:2M"));
  EXPECT_EQ(read(content("a.toml")), spec_of("a=memory:2M"));
  EXPECT_EQ(files().size(), 1U);
  store_.forget("a");
  EXPECT_THAT(error_of<Error>([&] { store_.forget("a"); }), HasSubstr("a.toml"));
  EXPECT_FALSE(store_.keeps("a"));
  EXPECT_TRUE(files().empty());
}

TEST_F(ConfigStoreTest, LeavesAloneWhatOthersHaveWritten) {
  std::filesystem::create_directory(directory_ + "/target.d");
  std::ofstream(file("a.toml")) << "# mine\n";
  EXPECT_THAT(error_of<Error>([&] { store_.keep(spec_of("a=memory:1M")); }),
              HasSubstr("somebody else"));
  EXPECT_FALSE(store_.keeps("a"));
  EXPECT_THAT(error_of<Error>([&] { store_.forget("a"); }), HasSubstr("has not made it"));
  EXPECT_EQ(content("a.toml"), "# mine\n");
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(ConfigStoreTest, FollowsNoName) {
  EXPECT_THROW(store_.forget("../target"), UsageError);
}

TEST_F(ConfigStoreTest, LeavesNothingWhenItFails) {
  std::filesystem::create_directories(file("a.toml/in the way"));
  EXPECT_THROW(store_.keep(spec_of("a=memory:1M")), Error);
  EXPECT_EQ(files().size(), 1U);
}

}  // namespace
}  // namespace rdmablk::target
