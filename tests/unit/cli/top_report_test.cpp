#include "initiator/cli/top_report.h"

#include <gmock/gmock.h>

namespace rdmablk::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TopSample sample(std::chrono::seconds at, std::uint64_t reads) {
  TopSample sample;
  sample.at = std::chrono::steady_clock::time_point(at);
  sample.exports = {{"disk", "1 read, 0 write", 1U << 20U, std::nullopt,
                     protocol::Use{.reads = reads, .bytes_read = reads * 4096, .errors = 3}}};
  TopItem mount{"/mnt", "connected", 1U << 20U, 7, std::nullopt};
  sample.mounts = {mount};
  return sample;
}

TEST(TopReport, ShowsWhatCameInASecond) {
  const std::string text =
      top_text(sample(std::chrono::seconds(10), 100), sample(std::chrono::seconds(12), 300));
  EXPECT_THAT(text, HasSubstr("disk"));
  EXPECT_THAT(text, HasSubstr("400 KiB")) << text;
  EXPECT_THAT(text, HasSubstr("  100  ")) << text;
}

TEST(TopReport, ShowsNoRateOfWhatDoesNotSayOrIsNew) {
  TopSample before = sample(std::chrono::seconds(10), 100);
  before.exports.clear();
  const Json json = top_json(before, sample(std::chrono::seconds(12), 300));
  EXPECT_TRUE(json["exports"][0]["reads_per_s"].is_null());
  EXPECT_EQ(json["exports"][0]["errors"], 3);
  EXPECT_TRUE(json["mounts"][0]["reads_per_s"].is_null());
  EXPECT_EQ(json["mounts"][0]["in_flight"], 7);
}

TEST(TopReport, OfTheSameMomentHasNoRates) {
  const TopSample now = sample(std::chrono::seconds(10), 100);
  EXPECT_TRUE(top_json(now, now)["exports"][0]["reads_per_s"].is_null());
}

TEST(TopReport, SaysWhyThereAreNoExports) {
  TopSample now = sample(std::chrono::seconds(10), 100);
  now.exports.clear();
  now.target_problem = "nobody is there";
  EXPECT_THAT(top_text(now, now), HasSubstr("exports: nobody is there\n"));
}

TEST(TopSample, TakesWhateverATargetSays) {
  for (const char* text : {"null", "{}", "[1, null, {}]", R"([{"name": 3, "use": []}])",
                           R"([{"name": "a", "readers": -1, "use": {"reads": "x"}}])"}) {
    top_exports(Json::parse(text));
  }
  const auto items = top_exports(
      Json::parse(R"([{"name": "a\u001b[2J", "size_bytes": 512, "use": {"reads": 4}}])"));
  ASSERT_EQ(items.size(), 1U);
  EXPECT_THAT(items[0].name, Not(HasSubstr("\x1b")));
  EXPECT_EQ(items[0].size, 512U);
  EXPECT_EQ(items[0].use->reads, 4U);
}

}  // namespace
}  // namespace rdmablk::cli
