#include "target/configuration.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "error_of.h"
#include "target/config_files.h"

namespace rdmablk::target {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class ConfigurationTest : public testing::Test {
 protected:
  ConfigurationTest() {
    std::string pattern = testing::TempDir() + "configuration-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ + "/target.toml";
  }
  ~ConfigurationTest() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }

  void drop_in(const std::string& name, const std::string& text) const {
    std::filesystem::create_directory(directory_ + "/target.d");
    std::ofstream(directory_ + "/target.d/" + name) << text;
  }

  Options load(std::vector<std::string> arguments = {"--insecure"}) const {
    arguments.insert(arguments.begin(), {"rdmablk-target", "--config", path_});
    std::vector<const char*> words;
    for (const auto& word : arguments) words.push_back(word.c_str());
    return load_options(static_cast<int>(words.size()), words.data());
  }

  /// The complaints about a file, a line each, without the path in front of them.
  std::string complaints(const std::string& text) const {
    write(text);
    std::string lines = error_of([&] { load(); });
    for (auto at = lines.find(path_); at != std::string::npos; at = lines.find(path_)) {
      lines.erase(at, path_.size() + 1);
    }
    return lines;
  }

  std::string directory_;
  std::string path_;
};

TEST_F(ConfigurationTest, SetsWhatTheCommandLineSets) {
  write(R"(
    auth = "/etc/keys"
    listen = "192.0.2.1:7"
    device = "rxe0"
    slot_size = "64K"
    slots = 16
    keepalive = 0.5
    handshake_timeout = "3"
    show_paths = true
    discard = ["a", "b"]
    mask_features = "all"
    [export.disk]
    type = "memory"
    size = 1048576
    allow = ["alice", "bob:ro"]
    [export.file]
    type = "file"
    path = "/srv/a, b"
    size = "4G"
    readonly = false
    sparse = true
    direct = "on"
    allow = "*"
  )");
  const Options options = load({});
  EXPECT_EQ(options.key_file, "/etc/keys");
  EXPECT_EQ(options.listen, (std::vector<ListenPlace>{{cm::Method::rdmacm, {"192.0.2.1", 7}}}));
  EXPECT_EQ(options.connections.device, "rxe0");
  EXPECT_EQ(options.limits.slot_size, 64U << 10U);
  EXPECT_EQ(options.limits.slots, 16U);
  EXPECT_EQ(options.limits.keepalive.count(), 500);
  EXPECT_EQ(options.limits.handshake.count(), 3000);
  EXPECT_TRUE(options.show_paths);
  EXPECT_THAT(options.discards, ElementsAre("a", "b"));
  EXPECT_EQ(options.limits.features, protocol::Features{});
  ASSERT_EQ(options.exports.size(), 2U);
  auto disk = parse_export_spec("disk=memory:1M,allow=alice,allow=bob:ro");
  disk.origin = ExportOrigin::configuration;
  EXPECT_EQ(options.exports[0], disk);
  auto file = parse_export_spec("file=file:/srv/a\\, b,size=4G,sparse,direct=on,allow=*");
  file.origin = ExportOrigin::configuration;
  EXPECT_EQ(options.exports[1], file);
}

TEST_F(ConfigurationTest, LetsTheCommandLineWin) {
  write("slots = 16\nlog_level = \"debug\"\ndiscard = [\"a\"]\n");
  const Options options =
      load({"--insecure", "--slots", "8", "--discard", "b", "--export", "x=memory:1M"});
  EXPECT_EQ(options.limits.slots, 8U);
  EXPECT_EQ(options.log_level, "debug");
  EXPECT_THAT(options.discards, ElementsAre("b"));
  EXPECT_EQ(options.exports.at(0).origin, ExportOrigin::command_line);
}

TEST_F(ConfigurationTest, NeedsNoExport) {
  write("insecure = true");
  EXPECT_THAT(load({}).exports, IsEmpty());
}

TEST_F(ConfigurationTest, ReadsDropInsInOrderOfName) {
  write("slots = 1\nio_threads = 1\nmax_sessions = 1\n[export.a]\ntype = \"memory\"\nsize = 512");
  drop_in("20-later.toml", "slots = 3\n");
  drop_in("10-first.toml", "slots = 2\nio_threads = 2\n[export.b]\ntype = \"memory\"\nsize = 512");
  drop_in(".hidden.toml", "slots = 4");
  drop_in("99-note.toml.new", "slots = 5");
  const Options options = load();
  EXPECT_EQ(options.limits.slots, 3U);
  EXPECT_EQ(options.io_threads, 2U);
  EXPECT_EQ(options.limits.sessions, 1U);
  EXPECT_EQ(options.exports.size(), 2U);
}

TEST_F(ConfigurationTest, AnExportIsDefinedOnce) {
  write("[export.a]\ntype = \"memory\"\nsize = 512");
  drop_in("a.toml", "\n  [export.a]\ntype = \"memory\"\nsize = 512");
  EXPECT_THAT(error_of([&] { load(); }), AllOf(StartsWith(directory_ + "/target.d/a.toml:2:"),
                                               HasSubstr("'a'"), HasSubstr(path_ + ":1:")));
  std::filesystem::remove_all(directory_ + "/target.d");
  EXPECT_THAT(error_of([&] {
                load({"--insecure", "--export", "a=memory:512"});
              }),
              AllOf(StartsWith(path_ + ":1:"), HasSubstr("the command line")));
}

TEST_F(ConfigurationTest, NamesThePlaceAndTheNearestKey) {
  EXPECT_EQ(complaints("slots = 4\n  slot_sise = 5"),
            "2:3: unknown key 'slot_sise'; do you mean 'slot_size'?");
  EXPECT_EQ(complaints("colour = 5"), "1:1: unknown key 'colour'");
  EXPECT_THAT(complaints("slot-size = 5"), HasSubstr("do you mean 'slot_size'?"));
  EXPECT_THAT(complaints("[export.a]\ntype = \"memory\"\nsise = 512"),
              AllOf(StartsWith("3:1: unknown key 'sise' of an export"), HasSubstr("'size'")));
  EXPECT_THAT(complaints("succeed = 5"), HasSubstr("for the command line alone"));
}

TEST_F(ConfigurationTest, SaysWhatIsWrongWithAValueInTheWordsOfTheCommandLine) {
  EXPECT_EQ(complaints("slot_size = \"12\""),
            "1:13: slot_size is '12': it takes a multiple of 512 bytes from 4 KiB to 16 MiB");
  EXPECT_THAT(complaints("slots = 0"), StartsWith("1:9: slots takes a number from 1 to 1024"));
  EXPECT_THAT(complaints("device = \"\""), StartsWith("1:10: device: its value is empty"));
  EXPECT_THAT(complaints("log_level = \"loud\""), StartsWith("1:13: 'loud' is not a log level"));
  EXPECT_THAT(complaints("[export.a]\ntype = \"memory\"\nsize = \"5\""),
              StartsWith("3:8: the size of export 'a'"));
  EXPECT_THAT(complaints("[export.a]\ntype = \"memory\"\nsize = 512\nallow = [\"x y\"]"),
              StartsWith("4:9: export 'a' is allowed to 'x y'"));
  EXPECT_THAT(
      complaints("[export.a]\ntype = \"memory\"\nsize = 512\nreadonly = true\nshared = true"),
      StartsWith("1:"));
  EXPECT_THAT(complaints("slot_memory = \"1M\"\nclient_slot_memory = \"2M\""),
              StartsWith("2:1: client_slot_memory is 2 MiB, which is more than slot_memory"));
}

TEST_F(ConfigurationTest, SaysWhatIsOfTheWrongType) {
  EXPECT_EQ(complaints("show_paths = \"yes\""), "1:14: show_paths takes true or false, not a text");
  EXPECT_EQ(complaints("admin_socket = 3"), "1:16: admin_socket takes a text, not an integer");
  EXPECT_EQ(complaints("listen = 1.5"),
            "1:10: listen takes a text or an array of texts, not a number with a fraction");
  EXPECT_EQ(complaints("discard = [\"a\", 1]"),
            "1:11: discard takes a text or an array of texts, not an array with an integer");
  EXPECT_EQ(complaints("discard = 1"),
            "1:11: discard takes a text or an array of texts, not an integer");
  EXPECT_EQ(complaints("slots = true"), "1:9: slots takes a text or a number, not true or false");
  EXPECT_EQ(complaints("slots = [true]"),
            "1:9: slots takes a text or a number, not an array with true or false");
  EXPECT_THAT(complaints("discard = [[]]"), HasSubstr("an array with an array"));
  EXPECT_THAT(complaints("device = 1979-05-27"), HasSubstr("not a date or time"));
  EXPECT_THAT(complaints("device = \"a\\u0000b\""), HasSubstr("not a text with a zero byte"));
  EXPECT_THAT(complaints("export = 5"), HasSubstr("[export.NAME]"));
  EXPECT_THAT(complaints("[export]\na = 5"), StartsWith("2:5: export 'a' is an integer"));
  EXPECT_THAT(complaints("[export.a]\ntype = \"memory\"\nsize = 512\nreadonly = 1"),
              StartsWith("4:12: readonly takes true or false, not an integer"));
  EXPECT_EQ(complaints("[export.a]\ntype = \"file\"\npath = 3\ndirect = 1\nallow = [7]"),
            "3:8: path takes a text, not an integer\n"
            "4:10: direct takes a text, not an integer\n"
            "5:9: allow takes texts in an array, not an array with an integer");
  EXPECT_THAT(complaints("[export.a]\ntype = \"memory\"\nsize = 512\nallow = []"),
              StartsWith("4:9: allow takes one client at least"));
  EXPECT_THAT(complaints("[slots]\na.b.c.d.e.f.g = 5"), StartsWith("1:"));
}

TEST_F(ConfigurationTest, SaysWhatAnExportLacks) {
  EXPECT_THAT(complaints("[export.a]"), AllOf(StartsWith("1:"), HasSubstr("has no type")));
  EXPECT_THAT(complaints("[export.a]\ntype = \"disk\""), StartsWith("2:8: export 'a' is of type"));
  EXPECT_THAT(complaints("[export.a]\ntype = \"memory\""), HasSubstr("has no size"));
  EXPECT_THAT(complaints("[export.a]\ntype = \"file\""), HasSubstr("has no path"));
  EXPECT_THAT(complaints("[export.\"a b\"]\ntype = \"memory\"\nsize = 512"),
              HasSubstr("'a b' is not a name of an export"));
}

TEST_F(ConfigurationTest, TellsEverythingAtOnceUpToABound) {
  EXPECT_EQ(complaints("a = 1\nslots = 0\n[export.b]\ntype = 5.5\nhuge = 1\n"),
            "1:1: unknown key 'a'\n"
            "2:9: slots takes a number from 1 to 1024, not '0'\n"
            "4:8: type takes a text, not a number with a fraction")
      << "in the order of the file";
  std::string many;
  for (int i = 0; i < 100; ++i) many += fmt::format("unknown{} = 1\n", i);
  const std::string told = complaints(many);
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 20);
  EXPECT_THAT(told, HasSubstr("and 80 more"));
}

TEST_F(ConfigurationTest, SaysWhereItIsNoToml) {
  EXPECT_THAT(complaints("slots = 4\nslots ="), StartsWith("2:"));
  EXPECT_THAT(complaints("slots = 4\nslots = 5"), StartsWith("2:"));
  EXPECT_THAT(complaints("device = \"\x01\""), AllOf(StartsWith("1:"), Not(HasSubstr("\x01"))));
}

TEST_F(ConfigurationTest, IsBounded) {
  EXPECT_THAT(complaints(std::string(1U << 20U, '#')), HasSubstr("262144 are the most"));
  std::string dots = "a";
  for (int i = 0; i < 100'000; ++i) dots += ".a";
  EXPECT_THAT(complaints(dots + " = 1"), HasSubstr("dots in one line"));
}

TEST_F(ConfigurationTest, SaysWhichFileCannotBeRead) {
  EXPECT_THAT(error_of([&] { load(); }), StartsWith(path_ + ": cannot use"));
  write("");
  ::chmod(path_.c_str(), 0666);
  EXPECT_THAT(error_of([&] { load(); }), AllOf(StartsWith(path_), HasSubstr("chmod o-w")));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(error_of([&] { load(); }), AllOf(StartsWith(path_), HasSubstr("regular file")));
}

TEST_F(ConfigurationTest, FindsTheDropIns) {
  EXPECT_EQ(drop_in_directory("/etc/rdmablk/target.toml"), "/etc/rdmablk/target.d");
  EXPECT_EQ(drop_in_directory("/etc/target"), "/etc/target.d");
}

TEST_F(ConfigurationTest, StillWantsToKnowWhoMayCome) {
  write("slots = 4");
  EXPECT_THAT(error_of([&] { load({}); }),
              AllOf(StartsWith(path_ + ": "), HasSubstr("--insecure")));
  write("auth = \"/etc/keys\"\ninsecure = true");
  EXPECT_THAT(error_of([&] { load({}); }), HasSubstr("exclude each other"));
}

}  // namespace
}  // namespace rdmablk::target
