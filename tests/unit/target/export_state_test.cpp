#include "target/export_state.h"

#include <gtest/gtest.h>

#include "common/random.h"
#include "common/uuid.h"

namespace rdmablk::target {
namespace {

ExportState sample() {
  ExportState state;
  state.path = "/srv/a \"disk\"\n.img";
  state.file = "inode 7";
  state.size = 1U << 20U;
  state.uuid = make_uuid();
  state.generation = random_bytes<protocol::Generation>();
  state.lease = 0x7fff'ffff'ffff'ffff;
  state.boot = "boot";
  return state;
}

TEST(ExportStateTest, ReadsWhatItWrote) {
  ExportState state = sample();
  for (const bool clean : {false, true}) {
    state.clean = clean;
    const auto read = ExportState::decode(state.encode());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->path, state.path);
    EXPECT_EQ(read->file, state.file);
    EXPECT_EQ(read->size, state.size);
    EXPECT_EQ(read->uuid, state.uuid);
    EXPECT_EQ(read->generation, state.generation);
    EXPECT_EQ(read->lease, state.lease);
    EXPECT_EQ(read->boot, state.boot);
    EXPECT_EQ(read->clean, clean);
    EXPECT_EQ(read->memory, state.memory);
    state.memory = random_bytes<MemoryId>();
  }
}

TEST(ExportStateTest, IsKnownByEitherSizeWhileItIsResized) {
  ExportState before = sample();
  before.next_size = 2 * before.size;
  before.was_resized = true;
  const auto read = ExportState::decode(before.encode());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->next_size, before.next_size);
  EXPECT_TRUE(read->was_resized);
  FoundContent now{before.file, before.size, before.boot, {}, nullptr};
  EXPECT_EQ(compare(*read, now), Continuity::same);
  now.size = 2 * before.size;
  EXPECT_EQ(compare(*read, now), Continuity::same);
  now.size = 3 * before.size;
  EXPECT_EQ(compare(*read, now), Continuity::other);
}

TEST(ExportStateTest, TakesAPathThatIsNoText) {
  ExportState state = sample();
  state.path = "/srv/\xff";
  EXPECT_TRUE(ExportState::decode(state.encode()));
}

TEST(ExportStateTest, RefusesWhatIsCutOff) {
  const std::string text = sample().encode();
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_FALSE(ExportState::decode(text.substr(0, size))) << size;
  }
}

TEST(ExportStateTest, RefusesWhatIsDamaged) {
  const std::string text = sample().encode();
  for (const auto& [from, to] : std::initializer_list<std::pair<std::string, std::string>>{
           {"\"version\": 1", "\"version\": 2"},
           {"\"clean\"", "\"dirty\""},
           {"\"clean\": false", "\"clean\": 0"},
           {"\"lease\": 9223372036854775807", "\"lease\": 0"},
           {"\"lease\": 9223372036854775807", "\"lease\": \"9\""},
           {"\"lease\": 9223372036854775807", "\"lease\": -9"},
           {"\"lease\": 9223372036854775807", "\"lease\": 1e300"},
           {"\"version\": 1", "\"version\": 1.5"},
           {"\"size_bytes\": 1", "\"size_bytes\": -1"},
           {"\"boot_id\": \"boot\"", "\"boot_id\": \"\""},
           {"\"uuid\": \"", "\"uuid\": \"0"},
           {"\"generation\": \"", "\"generation\": \"-"},
           {"\"size_bytes\": 1", "\"size_bytes\": {}, \"x\": 1"}}) {
    std::string damaged = text;
    const auto at = damaged.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    damaged.replace(at, from.size(), to);
    EXPECT_FALSE(ExportState::decode(damaged)) << damaged;
  }
  EXPECT_FALSE(ExportState::decode("[]"));
  EXPECT_FALSE(ExportState::decode(std::string(4096, '[')));
}

struct Case {
  const char* name;
  bool clean, same_boot, same_file, same_size;
  int memory_before, memory_now;  ///< zero: none
  Continuity expected;
};

class ContinuityTest : public ::testing::TestWithParam<Case> {};

constexpr auto kSame = Continuity::same;
constexpr auto kMayLack = Continuity::may_lack_writes;
constexpr auto kOther = Continuity::other;

INSTANTIATE_TEST_SUITE_P(
    Cases, ContinuityTest,
    ::testing::Values(Case{"FileKilled", false, true, true, true, 0, 0, kSame},
                      Case{"FileCrashed", false, false, true, true, 0, 0, kMayLack},
                      Case{"FileStopped", true, true, true, true, 0, 0, kSame},
                      Case{"FileRebooted", true, false, true, true, 0, 0, kSame},
                      Case{"FileReplaced", true, true, false, true, 0, 0, kOther},
                      Case{"FileResized", true, true, true, false, 0, 0, kOther},
                      Case{"ResidentKilled", false, true, true, true, 1, 2, kMayLack},
                      Case{"ResidentKilledThenAFile", false, true, true, true, 1, 0, kMayLack},
                      Case{"FileKilledThenResident", false, true, true, true, 0, 1, kSame},
                      Case{"ResidentStopped", true, true, true, true, 1, 2, kSame},
                      Case{"ResidentRebooted", true, false, true, true, 1, 2, kSame},
                      Case{"ResidentCrashed", false, false, true, true, 1, 2, kMayLack},
                      Case{"MemoryRemains", false, true, true, true, 1, 1, kSame},
                      Case{"MemoryRemainsButNotTheFile", false, true, false, true, 1, 1, kSame},
                      Case{"MemoryOfAnotherSize", false, true, true, false, 1, 1, kOther}),
    [](const auto& parameter) { return parameter.param.name; });

TEST_P(ContinuityTest, IsJudged) {
  const Case& given = GetParam();
  const auto memory = [](int number) {
    std::optional<MemoryId> id;
    if (number != 0) id.emplace().front() = static_cast<std::byte>(number);
    return id;
  };
  ExportState before = sample();
  before.clean = given.clean;
  before.memory = memory(given.memory_before);
  const FoundContent now{given.same_file ? before.file : "inode 8",
                         given.same_size ? before.size : before.size / 2,
                         given.same_boot ? before.boot : "another", memory(given.memory_now)};
  EXPECT_EQ(compare(before, now), given.expected);
}

}  // namespace
}  // namespace rdmablk::target
