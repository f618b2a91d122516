#include "target/export_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(ExportSpecTest, ReadsNameAndSize) {
  const auto spec = parse_export_spec("ram-disk.0=memory:256M");
  EXPECT_EQ(spec.name, "ram-disk.0");
  EXPECT_EQ(spec.kind, protocol::ExportKind::memory);
  EXPECT_EQ(spec.size, 256 * kMiB);
  EXPECT_EQ(spec.chunk, kDefaultChunk);
  EXPECT_EQ(spec.huge_page, 0U);
  EXPECT_FALSE(spec.read_only);
}

TEST(ExportSpecTest, ReadsOptions) {
  const auto spec = parse_export_spec("a=memory:1G,readonly,chunk=64M,huge=2M");
  EXPECT_TRUE(spec.read_only);
  EXPECT_EQ(spec.chunk, 64 * kMiB);
  EXPECT_EQ(spec.huge_page, 2 * kMiB);
}

TEST(ExportSpecTest, ChunksAreAtLeastAHugePage) {
  EXPECT_EQ(parse_export_spec("a=memory:4G,huge=1G").chunk, kGiB);
  EXPECT_THAT(error_of([] { parse_export_spec("a=memory:4G,huge=1G,chunk=512M"); }),
              HasSubstr("chunk size"));
}

TEST(ExportSpecTest, TakesSizesThatAreNoMultipleOfAPage) {
  EXPECT_EQ(parse_export_spec("a=memory:512").size, 512U);
}

struct Bad {
  const char* text;
  const char* words;
};

class BadExportSpecTest : public ::testing::TestWithParam<Bad> {};

TEST_P(BadExportSpecTest, GetsOneClearLine) {
  const std::string error = error_of([] { parse_export_spec(GetParam().text); });
  EXPECT_THAT(error, AllOf(HasSubstr(GetParam().words), Not(HasSubstr("\n"))));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadExportSpecTest,
    ::testing::Values(
        Bad{"", "is not an export: it is written NAME=memory:SIZE"},
        Bad{"a", "is not an export: it is written NAME=memory:SIZE"},
        Bad{"=memory:1M", "'' is not a name of an export"},
        Bad{"-a=memory:1M", "'-a' is not a name of an export"},
        Bad{"a/b=memory:1M", "'a/b' is not a name of an export"},
        Bad{"a=", "unknown type '': the types are: memory"},
        Bad{"a=floppy:1M", "unknown type 'floppy': the types are: memory"},
        Bad{"a=memory", "has no size"}, Bad{"a=memory:", "is '', which is not a size"},
        Bad{"a=memory:0", "size of export 'a' is zero"},
        Bad{"a=memory:-1M", "is '-1M', which is not a size"},
        Bad{"a=memory:big", "is 'big', which is not a size"},
        Bad{"a=memory:1.5G", "is '1.5G', which is not a size"},
        Bad{"a=memory:99999999999999999999", "which is not a size"},
        Bad{"a=memory:17179869184T", "which is not a size"},
        Bad{"a=memory:1000", "is 1000 bytes, which is not a multiple of 512"},
        Bad{"a=memory:1M,", "unknown option ''"}, Bad{"a=memory:1M,fast", "unknown option 'fast'"},
        Bad{"a=memory:1M,readonly=1", "unknown option 'readonly=1'"},
        Bad{"a=memory:1M,huge", "unknown option 'huge'"},
        Bad{"a=memory:1M,readonly,readonly", "option 'readonly' twice"},
        Bad{"a=memory:1M,huge=4M", "it takes huge=2M or huge=1G"},
        Bad{"a=memory:1M,huge=", "it takes huge=2M or huge=1G"},
        Bad{"a=memory:1M,chunk=x", "chunk size of export 'a' is 'x', which is not a size"},
        Bad{"a=memory:1M,chunk=0", "chunk size of export 'a' is 0 bytes: it takes a power of two"},
        Bad{"a=memory:1M,chunk=2K", "it takes a power of two of 4 KiB or more"},
        Bad{"a=memory:1M,chunk=12K", "it takes a power of two"},
        Bad{"a=memory:1T,chunk=4K", "more than 1048576 chunks"},
        Bad{"a=memory:1M\\,readonly", "is '1M,readonly', which is not a size"},
        Bad{"a=memory:1M\\\\,readonly", "is '1M\\', which is not a size"}));

TEST(ExportSpecsTest, RefusesANameThatComesTwice) {
  EXPECT_THAT(error_of([] {
                parse_export_specs({"a=memory:1M", "b=memory:1M", "a=memory:2M"});
              }),
              HasSubstr("two exports of the name 'a'"));
}

TEST(ExportSpecsTest, KeepsTheirOrder) {
  const auto specs = parse_export_specs({"b=memory:1M", "a=memory:1M"});
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].name, "b");
}

}  // namespace
}  // namespace rdmablk::target
