// What a start refuses, and what a look at the places that it would use finds before.
#include "target/config_check.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/machine_memory.h"
#include "common/metrics/http_server.h"
#include "common/pid_file.h"
#include "scratch_directory.h"
#include "target/admin_place.h"
#include "target/options.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Kind = Finding::Kind;

class ConfigCheckTest : public ::testing::Test {
 protected:
  /// Looks at what a command line names, beside the state directory and no socket.
  void look(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"rdmablk-target", "--insecure", "--state-dir",
                                         scratch_.path("state"), "--listen", "127.0.0.1:0"});
    std::vector<const char*> words;
    for (const auto& word : arguments) words.push_back(word.c_str());
    findings_ = look_at_places(load_options(static_cast<int>(words.size()), words.data()));
  }

  /// All findings of a kind, a line each; without those about RDMA devices, which are the host's.
  std::string of_kind(Kind kind) const {
    std::string lines;
    for (const Finding& finding : findings_) {
      const bool is_of_host = finding.text.find("RDMA") != std::string::npos;
      if (finding.kind == kind && !is_of_host) lines += finding.text + "\n";
    }
    return lines;
  }
  std::string problems() const { return of_kind(Kind::problem); }
  std::string notes() const { return of_kind(Kind::note); }

  /// @return what is wrong with an export, beside another one.
  std::string problems_of(const std::string& spec) {
    look({"--export", spec});
    return problems();
  }

  ScratchDirectory scratch_;
  std::vector<Finding> findings_;
};

TEST_F(ConfigCheckTest, MakesNothing) {
  look({"--export", "new=file:" + scratch_.path("new.img") + ",size=1M", "--admin-socket",
        scratch_.path("socket"), "--pidfile", scratch_.path("pid"), "--metrics", "0"});
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(ConfigCheckTest, SeesTwoExportsOfOneFile) {
  const std::string path = scratch_.path("new.img");
  look({"--export", "a=file:" + path + ",size=1M", "--export", "b=file:" + path + ",size=1M"});
  EXPECT_THAT(problems(), HasSubstr("the exports 'a' and 'b' are of one file"));
  look({"--export", "a=file:" + scratch_.make("there.img", 4096), "--export",
        "b=memory:4K,save=" + scratch_.path("there.img")});
  EXPECT_THAT(problems(), HasSubstr("the exports 'a' and 'b' are of one file"));
}

TEST_F(ConfigCheckTest, LooksAtTheAdministrationSocket) {
  const auto problem = [&](const std::string& path) {
    look({"--export", "m=memory:1M", "--admin-socket", path});
    return problems();
  };
  EXPECT_THAT(problem(scratch_.path("none/socket")), HasSubstr("No such file or directory"));
  EXPECT_THAT(problem(scratch_.path(std::string(120, 'x'))), HasSubstr("99 are the most"));
  EXPECT_THAT(problem(scratch_.make("file", 0)), HasSubstr("something else than a socket"));
  EXPECT_THAT(problem("none"), IsEmpty());
  const std::string path = scratch_.path("socket");
  const AdminPlace taken(path, "", std::nullopt);
  EXPECT_THAT(problem(path), IsEmpty()) << "a target that runs has it";
  EXPECT_THAT(notes(), HasSubstr("socket " + path + " is in use: process"));
}

TEST_F(ConfigCheckTest, LooksAtTheAdministrationGroup) {
  look({"--export", "m=memory:1M", "--admin-group", "no-such-group"});
  EXPECT_THAT(problems(), HasSubstr("no such group"));
  look({"--export", "m=memory:1M", "--admin-group", "no-such-group", "--admin-socket",
        scratch_.path("socket")});
  EXPECT_THAT(problems(), HasSubstr("no such group"));
}

TEST_F(ConfigCheckTest, LooksAtThePidfile) {
  const auto problem = [&](const std::string& path) {
    look({"--export", "m=memory:1M", "--pidfile", path});
    return problems();
  };
  std::filesystem::create_directory(scratch_.path("directory"));
  EXPECT_THAT(problem(scratch_.path("directory")), HasSubstr("no regular file"));
  std::ofstream(scratch_.path("text")) << "something\n";
  EXPECT_THAT(problem(scratch_.path("text")), HasSubstr("holds something else"));
  EXPECT_THAT(problem(scratch_.path("none/pid")), HasSubstr("No such file or directory"));
  PidFile held(scratch_.path("pid"));
  held.write();
  EXPECT_THAT(problem(scratch_.path("pid")), IsEmpty());
  EXPECT_THAT(notes(), HasSubstr("is that of process " + std::to_string(::getpid())));
}

TEST_F(ConfigCheckTest, LooksAtTheAddressOfMetrics) {
  const auto problem = [&](const std::string& address) {
    look({"--export", "m=memory:1M", "--metrics", address});
    return problems();
  };
  EXPECT_THAT(problem("192.0.2.1:9464"), HasSubstr("no such address"));
  EXPECT_THAT(problem("[::1]:9464"), HasSubstr("IPv4"));
  const metrics::HttpServer server({"127.0.0.1", 0}, {});
  EXPECT_THAT(problem(std::to_string(server.address().port)), IsEmpty());
  EXPECT_THAT(notes(), HasSubstr("Address already in use"));
}

TEST_F(ConfigCheckTest, LooksAtMemory) {
  const std::uint64_t megabytes = read_machine_memory().total >> 20U;
  look({"--export", "m=memory:" + std::to_string(megabytes + 1024) + "M"});
  EXPECT_THAT(problems(), HasSubstr("more than the"));
  const std::string most = std::to_string(megabytes * 2 / 3);
  look({"--export", "m=memory:" + most + "M", "--export", "n=memory:" + most + "M"});
  EXPECT_THAT(problems(), HasSubstr("the exports up to 'n' take"));
  scratch_.make("huge.img", (megabytes + 1024) << 20U);
  EXPECT_THAT(problems_of("r=file:" + scratch_.path("huge.img") + ",resident"),
              HasSubstr("export 'r' is to have"));
}

TEST_F(ConfigCheckTest, LooksAtSlotMemory) {
  look({"--export", "f=file:" + scratch_.make("f.img", 1U << 20U), "--slot-memory", "8K"});
  EXPECT_THAT(problems(), HasSubstr("--slot-memory is 8 KiB"));
}

TEST_F(ConfigCheckTest, LooksAtFiles) {
  std::filesystem::create_symlink(scratch_.path("none"), scratch_.path("link"));
  EXPECT_THAT(problems_of("f=file:" + scratch_.path("link") + ",size=1M"),
              HasSubstr("a symbolic link to a file that is missing"));
  EXPECT_THAT(problems_of("f=file:" + scratch_.path("new.img") + ",size=1024T"),
              HasSubstr("its file system has"));
  EXPECT_THAT(problems_of("f=file:" + scratch_.path("new.img") + ",size=1024T,sparse"), IsEmpty());
  scratch_.make("plain", 4096);
  EXPECT_THAT(problems_of("f=file:" + scratch_.path("plain/new.img") + ",size=1M"),
              HasSubstr("Not a directory"));
}

TEST_F(ConfigCheckTest, LooksAtWhatWasSaved) {
  const std::string saved = scratch_.make("saved.img", 4096);
  EXPECT_THAT(problems_of("m=memory:8K,save=" + saved),
              HasSubstr("it has 4096 bytes, and the export 8192"));
  EXPECT_THAT(problems_of("m=memory:4K,save=" + saved), IsEmpty());
  std::filesystem::create_directory(scratch_.path("saved.img.rdmablk-new"));
  EXPECT_THAT(problems_of("m=memory:4K,save=" + saved), HasSubstr("is in the way"));
}

TEST_F(ConfigCheckTest, LooksAtTheStateDirectory) {
  std::ofstream(scratch_.path("state")) << "no directory";
  EXPECT_THAT(problems_of("f=file:" + scratch_.make("f.img", 4096)),
              AllOf(HasSubstr("state directory"), HasSubstr("Not a directory")));
}

}  // namespace
}  // namespace rdmablk::target
