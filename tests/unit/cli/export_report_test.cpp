#include "initiator/cli/export_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const HostPort kTarget{"storage1", 10812};

protocol::ExportInfo info(std::string name, std::uint64_t size, bool read_only) {
  protocol::ExportInfo info;
  info.name = std::move(name);
  info.uuid.fill(std::byte{0xab});
  info.read_only = read_only;
  info.block_size = 512;
  info.size = size;
  return info;
}

/// A file export, without a chunk table.
ExportDetails file_details(bool direct) {
  ExportDetails details;
  details.uri = {kTarget, "disk"};
  details.reply.info = info("disk", 512, false);
  details.reply.info.kind = protocol::ExportKind::file;
  details.reply.info.is_direct = direct;
  details.reply.info.needs_flush = true;
  details.reply.info.can_discard = true;
  details.reply.origin = "disk.img";
  return details;
}

ExportDetails details() {
  ExportDetails details;
  details.uri = {kTarget, "disk"};
  details.reply.info = info("disk", 256U << 20U, false);
  details.reply.access = protocol::Access::read_only;  // what was asked for, not what it is
  details.reply.generation.fill(std::byte{0x0c});
  details.reply.table.count = 4;
  details.reply.table.chunk_size = 64U << 20U;
  return details;
}

TEST(ExportListJson, HasTheExports) {
  const std::vector exports{info("a", 512, true), info("b", 1U << 20U, false)};
  const Json json = export_list_json(kTarget, exports);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["target"], "storage1:10812");
  ASSERT_EQ(json["exports"].size(), 2U);
  EXPECT_EQ(json["exports"][0], Json::parse(R"({
      "name": "a", "type": "memory", "size_bytes": 512, "block_size_bytes": 512,
      "read_only": true, "direct": false, "needs_flush": false, "can_discard": false,
      "shared": false, "uuid": "abababab-abab-abab-abab-abababababab"})"));
  EXPECT_EQ(json["exports"][1]["read_only"], false);
}

TEST(ExportListJson, HasAnEmptyListWithoutExports) {
  EXPECT_EQ(export_list_json(kTarget, {})["exports"], Json::array());
}

TEST(ExportListText, HasALineForEach) {
  const std::vector exports{info("a", 512, true), info("longer", 1U << 20U, false)};
  EXPECT_EQ(export_list_text(exports),
            "NAME    TYPE         SIZE  ACCESS      UUID\n"
            "a       memory  512 bytes  read-only   abababab-abab-abab-abab-abababababab\n"
            "longer  memory      1 MiB  read-write  abababab-abab-abab-abab-abababababab\n");
}

TEST(ExportDetailsJson, HasEverything) {
  const Json json = export_details_json(details());
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["uri"], "rdmablk://storage1:10812/disk");
  EXPECT_EQ(json["name"], "disk");
  EXPECT_EQ(json["type"], "memory");
  EXPECT_EQ(json["size_bytes"], 256U << 20U);
  EXPECT_EQ(json["block_size_bytes"], 512);
  EXPECT_EQ(json["read_only"], false);
  EXPECT_EQ(json["uuid"], "abababab-abab-abab-abab-abababababab");
  EXPECT_EQ(json["generation"], "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c");
  EXPECT_EQ(json["chunks"], 4);
  EXPECT_EQ(json["chunk_size_bytes"], 64U << 20U);
  EXPECT_EQ(json["file"], Json());
  EXPECT_EQ(json["direct"], false);
  EXPECT_EQ(json["needs_flush"], false);
  EXPECT_EQ(json["can_discard"], false);
}

TEST(ExportSizeJson, HasTheSizeAlone) {
  EXPECT_EQ(export_size_json(details()).dump(),
            R"({"version":1,"uri":"rdmablk://storage1:10812/disk","size_bytes":268435456})");
}

TEST(ExportAnswerJson, RepeatsTheQuestion) {
  EXPECT_EQ(
      export_answer_json(details().uri, "discard", false).dump(),
      R"({"version":1,"uri":"rdmablk://storage1:10812/disk","can":"discard","answer":false})");
}

TEST(ExportDetailsText, IsForPeople) {
  const std::string text = export_details_text(details());
  EXPECT_THAT(text, HasSubstr("size        256 MiB (268435456 bytes)\n"));
  EXPECT_THAT(text, HasSubstr("access      read-write\n"));
  EXPECT_THAT(text, HasSubstr("chunks      4 of at most 64 MiB\n"));
  EXPECT_THAT(text, HasSubstr("flush       nothing to do"));
  EXPECT_THAT(text, HasSubstr("discard     writes zeroes\n"));
  EXPECT_THAT(text, Not(HasSubstr("file")));
}

TEST(ExportDetails, TellWhoMayWrite) {
  ExportDetails shared = details();
  shared.reply.info.is_shared = true;
  EXPECT_EQ(export_details_json(shared)["shared"], true);
  EXPECT_EQ(export_details_json(details())["shared"], false);
  EXPECT_THAT(export_details_text(shared), HasSubstr("writers     any number at a time: shared\n"));
  EXPECT_THAT(export_details_text(details()), HasSubstr("writers     one at a time\n"));
  const std::vector exports{shared.reply.info};
  EXPECT_THAT(export_list_text(exports), HasSubstr("read-write, shared"));
}

TEST(ExportDetails, TellTheLeaseIfThereIsOne) {
  ExportDetails leased = details();
  leased.reply.lease = 7;
  EXPECT_EQ(export_details_json(leased)["lease"], 7);
  EXPECT_EQ(export_details_json(details())["lease"], Json());
  EXPECT_THAT(export_details_text(leased), HasSubstr("lease       7\n"));
  EXPECT_THAT(export_details_text(details()), Not(HasSubstr("lease")));
}

TEST(ExportDetailsText, TellsOfItsFile) {
  const std::string text = export_details_text(file_details(true));
  EXPECT_THAT(text, HasSubstr("type        file\nfile        disk.img\n"));
  EXPECT_THAT(text, HasSubstr("file I/O    direct"));
  EXPECT_THAT(text, HasSubstr("flush       needed"));
  EXPECT_THAT(text, HasSubstr("discard     gives space back\n"));
  EXPECT_THAT(text, Not(HasSubstr("chunks")));
  EXPECT_THAT(export_details_text(file_details(false)), HasSubstr("file I/O    buffered"));
}

TEST(ExportDetailsText, WritesNothingToWhatIsReadOnly) {
  ExportDetails read_only = file_details(true);
  read_only.reply.info.read_only = true;
  const std::string text = export_details_text(read_only);
  EXPECT_THAT(text, HasSubstr("flush       nothing to do: read-only\n"));
  EXPECT_THAT(text, HasSubstr("discard     no: read-only\n"));
}

TEST(ExportDetailsText, LeavesAFileOutWhoseNameIsNotTold) {
  ExportDetails details = file_details(true);
  details.reply.origin.clear();
  EXPECT_THAT(export_details_text(details), Not(HasSubstr("file  ")));
  EXPECT_EQ(export_details_json(details)["file"], Json());
}

TEST(ExportDetailsJson, TellsOfItsFile) {
  const Json json = export_details_json(file_details(true));
  EXPECT_EQ(json["type"], "file");
  EXPECT_EQ(json["file"], "disk.img");
  EXPECT_EQ(json["direct"], true);
  EXPECT_EQ(json["needs_flush"], true);
  EXPECT_EQ(json["can_discard"], true);
}

}  // namespace
}  // namespace rdmablk::cli
