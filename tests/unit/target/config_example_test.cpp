// The example file names every option, with its default.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "target/config_export.h"
#include "target/config_keys.h"
#include "target/option_draft.h"

namespace rdmablk::target {
namespace {

/// Each option's line without the sign that makes it a comment.
std::string uncommented() {
  std::ifstream file(RDMABLK_CONFIG_EXAMPLE);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    const bool is_option =
        line.size() > 1 && line[0] == '#' && (std::islower(line[1]) != 0 || line[1] == '[');
    text += (is_option ? line.substr(1) : line) + "\n";
  }
  return text;
}

class ConfigExampleTest : public testing::Test {
 protected:
  ConfigExampleTest() {
    describe_options(app_, draft_);
    for (const ConfigEntry& entry : parse_config_text(uncommented(), "example")) {
      entries_[entry.key] = entry;
    }
  }

  OptionDraft draft_;
  CLI::App app_;
  std::map<std::string, ConfigEntry> entries_;
};

TEST_F(ConfigExampleTest, HasEveryOption) {
  for (const std::string& key : config_keys(app_)) EXPECT_TRUE(entries_.contains(key)) << key;
}

TEST_F(ConfigExampleTest, IsRight) {
  Complaints complaints;
  for (const auto& [key, entry] : entries_) {
    if (key != "export") apply_key(app_, entry, complaints);
  }
  ASSERT_TRUE(entries_.contains("export"));
  for (const ConfigEntry& entry : entries_["export"].value.entries) {
    read_export(entry, complaints);
  }
  EXPECT_NO_THROW(complaints.raise());
}

TEST_F(ConfigExampleTest, HasTheDefaults) {
  for (const CLI::Option* const option : app_.get_options()) {
    const std::string wanted = option->get_default_str();
    if (wanted.empty()) continue;
    const std::string key = option->get_name().substr(2);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
      return option_name(entry.first) == option->get_name();
    });
    ASSERT_NE(found, entries_.end()) << key;
    EXPECT_EQ(found->second.value.texts, std::vector<std::string>{wanted}) << key;
  }
}

TEST_F(ConfigExampleTest, HasEveryOptionOfAnExport) {
  std::string seen;
  for (const ConfigEntry& table : entries_["export"].value.entries) {
    for (const ConfigEntry& entry : table.value.entries) seen += entry.key + " ";
  }
  for (const auto* const key : {"type", "size", "path", "huge", "chunk", "shared", "readonly",
                                "save", "allow", "sparse", "direct", "resident"}) {
    EXPECT_THAT(seen, testing::HasSubstr(std::string(key) + " "));
  }
}

}  // namespace
}  // namespace rdmablk::target
