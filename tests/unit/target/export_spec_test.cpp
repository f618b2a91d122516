#include "target/export_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

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

TEST(FileExportSpecTest, ReadsPath) {
  const auto spec = parse_export_spec("disk=file:/srv/disk.img");
  EXPECT_EQ(spec.kind, protocol::ExportKind::file);
  EXPECT_TRUE(spec.has_file());
  EXPECT_EQ(spec.path, "/srv/disk.img");
  EXPECT_EQ(spec.size, 0U);
  EXPECT_FALSE(spec.file_size);
  EXPECT_FALSE(spec.sparse);
  EXPECT_FALSE(spec.read_only);
  EXPECT_EQ(spec.direct, DirectIo::automatic);
}

TEST(FileExportSpecTest, ReadsOptions) {
  const auto spec = parse_export_spec("disk=file:/a,size=1G,sparse,direct=on");
  EXPECT_EQ(spec.file_size, kGiB);
  EXPECT_TRUE(spec.sparse);
  EXPECT_EQ(spec.direct, DirectIo::on);
  EXPECT_EQ(parse_export_spec("disk=file:/a,direct=off").direct, DirectIo::off);
  EXPECT_EQ(parse_export_spec("disk=file:/a,direct=auto").direct, DirectIo::automatic);
  EXPECT_TRUE(parse_export_spec("disk=file:/a,readonly,size=1M").read_only);
  EXPECT_TRUE(parse_export_spec("disk=file:/a,shared").shared);
  EXPECT_TRUE(parse_export_spec("disk=memory:1M,shared").shared);
  EXPECT_FALSE(parse_export_spec("disk=memory:1M").shared);
}

TEST(FileExportSpecTest, TakesAnyCharacterInAPath) {
  EXPECT_EQ(parse_export_spec("a=file:/b=c:d\\,e\\\\,readonly").path, "/b=c:d,e\\");
}

TEST(FileExportSpecTest, MakesRelativePathsAbsolute) {
  const auto here = std::filesystem::current_path().string();
  EXPECT_EQ(parse_export_spec("a=file:disk.img").path, here + "/disk.img");
}

TEST(FileExportSpecTest, ResidentOnesLieInMemory) {
  const auto spec =
      parse_export_spec("a=file:/b,chunk=64M,huge=2M,resident,direct=off,size=1M,sparse");
  EXPECT_EQ(spec.kind, protocol::ExportKind::resident);
  EXPECT_EQ(spec.chunk, 64 * kMiB);
  EXPECT_EQ(spec.huge_page, 2 * kMiB);
  EXPECT_EQ(parse_export_spec("a=file:/b,resident,huge=1G").chunk, kGiB);
}

TEST(FileExportSpecTest, CountsChunksWhenTheSizeIsKnown) {
  auto spec = parse_export_spec("a=file:/b,resident,chunk=4K");
  spec.size = kMaxChunks * 4096;
  EXPECT_EQ(error_of([&] { check_chunk_count(spec); }), "");
  ++spec.size;
  EXPECT_THAT(error_of([&] { check_chunk_count(spec); }), HasSubstr("more than 1048576 chunks"));
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
        Bad{"a=", "unknown type '': the types are: memory, file"},
        Bad{"a=floppy:1M", "unknown type 'floppy': the types are: memory, file"},
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
        Bad{"a=memory:8388608T", "more than any file has"},
        Bad{"a=memory:1M,resident", "a memory export takes"},
        Bad{"a=memory:1M,sparse", "unknown option 'sparse'"},
        Bad{"a=memory:1M,size=1M", "unknown option 'size=1M'"},
        Bad{"a=memory:1M,direct=on", "unknown option 'direct=on'"},
        Bad{"a=file", "export 'a' has no path"}, Bad{"a=file:", "path of export 'a' is empty"},
        Bad{"a=file:/b,", "unknown option ''"}, Bad{"a=file:/b,fast", "a file export takes size="},
        Bad{"a=file:/b,size", "unknown option 'size'"},
        Bad{"a=file:/b,size=0", "size of export 'a' is zero"},
        Bad{"a=file:/b,size=1000", "not a multiple of 512"},
        Bad{"a=file:/b,size=8388608T", "more than any file has"},
        Bad{"a=file:/b,size=1M,size=1M", "option 'size' twice"},
        Bad{"a=file:/b,direct", "unknown option 'direct'"},
        Bad{"a=file:/b,direct=yes", "it takes direct=auto, direct=on or direct=off"},
        Bad{"a=file:/b,sparse", "'sparse' without 'size'"},
        Bad{"a=file:/b,sparse,size=1M,readonly", "'sparse' and 'readonly'"},
        Bad{"a=memory:1M,shared,readonly", "'shared' and 'readonly'"},
        Bad{"a=file:/b,resident=1", "unknown option 'resident=1'"},
        Bad{"a=file:/b,huge=2M", "export 'a' has the option 'huge'"},
        Bad{"a=file:/b,chunk=64M", "takes it with 'resident' only"},
        Bad{"a=file:/b,resident,chunk=12K", "it takes a power of two"},
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

TEST(ExportSpecTest, ReadsWhoMayHaveIt) {
  const auto address = asio::ip::make_address("192.0.2.7");
  const auto spec = parse_export_spec("a=memory:1M,allow=alice:rw,allow=bob:ro@192.0.2.0/24");
  EXPECT_EQ(spec.rules.access_of("alice", address), protocol::Access::read_write);
  EXPECT_EQ(spec.rules.access_of("bob", address), protocol::Access::read_only);
  EXPECT_FALSE(spec.rules.access_of("carol", address));
  EXPECT_EQ(parse_export_spec("a=file:/x,allow=*:ro").rules.access_of("carol", address),
            protocol::Access::read_only);
  EXPECT_THAT(error_of([] { parse_export_spec("a=memory:1M,allow"); }), HasSubstr("'allow'"));
}

}  // namespace
}  // namespace rdmablk::target
