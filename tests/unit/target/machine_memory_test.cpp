#include "target/machine_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr MachineMemory kMachine{16 * kGiB, 8 * kGiB, std::uint64_t{2} << 20};

std::string check(const std::vector<std::string>& texts) {
  return error_of<Error>([&] { check_memory(parse_export_specs(texts), kMachine); });
}

TEST(MachineMemoryTest, IsKnown) {
  const auto memory = read_machine_memory();
  EXPECT_GT(memory.total, 0U);
  EXPECT_GT(memory.available, 0U);
  EXPECT_LE(memory.available, memory.total);
}

TEST(MachineMemoryTest, TakesWhatFits) {
  EXPECT_EQ(check({"a=memory:4G", "b=memory:4G"}), "");
}

TEST(MachineMemoryTest, RefusesAnExportLargerThanTheMachine) {
  EXPECT_THAT(check({"a=memory:1T"}), AllOf(HasSubstr("'a'"), HasSubstr("1 TiB"),
                                            HasSubstr("16 GiB of memory of this machine")));
}

TEST(MachineMemoryTest, RefusesExportsThatTogetherAreTooLarge) {
  EXPECT_THAT(check({"a=memory:5G", "b=memory:4G"}),
              AllOf(HasSubstr("9 GiB"), HasSubstr("8 GiB"), HasSubstr("free")));
}

TEST(MachineMemoryTest, CountsResidentFilesByTheirSize) {
  auto specs = parse_export_specs({"a=file:/a.img,resident", "b=file:/b.img"});
  for (ExportSpec& spec : specs) spec.size = 9 * kGiB;
  EXPECT_THAT(error_of<Error>([&] { check_memory(specs, kMachine); }), HasSubstr("'a'"));
  specs[0].size = 8 * kGiB;
  EXPECT_NO_THROW(check_memory(specs, kMachine));
}

TEST(MachineMemoryTest, HugePagesComeOutOfTheirOwnPool) {
  EXPECT_EQ(check({"a=memory:12G,huge=2M", "b=memory:4G"}), "");
}

TEST(MachineMemoryTest, NamesTheFileOfAPool) {
  EXPECT_EQ(read_huge_page_pool(std::uint64_t{2} << 20, kMachine).file,
            "/proc/sys/vm/nr_hugepages");
  EXPECT_EQ(read_huge_page_pool(kGiB, kMachine).file,
            "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages");
}

}  // namespace
}  // namespace rdmablk::target
