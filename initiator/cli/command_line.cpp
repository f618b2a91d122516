#include "initiator/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common/error.h"
#include "common/option_values.h"
#include "common/unexpected_argument.h"
#include "initiator/cli/bench_command.h"
#include "initiator/cli/devices_command.h"
#include "initiator/cli/info_command.h"
#include "initiator/cli/keygen_command.h"
#include "initiator/cli/list_command.h"
#include "initiator/cli/mapping/map_command.h"
#include "initiator/cli/mapping/unmap_command.h"
#include "initiator/cli/mount_command.h"
#include "initiator/cli/mounts_command.h"
#include "initiator/cli/target_commands.h"
#include "initiator/cli/timeouts_command.h"
#include "initiator/cli/unmount_command.h"
#include "initiator/copy/copy_command.h"
#include "initiator/copy/fill_command.h"
#include "initiator/copy/hexdump_command.h"
#include "initiator/doctor/doctor_command.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kProgramFooter =
    "Examples:\n"
    "  rdmablk devices\n"
    "  rdmablk list storage1\n"
    "  rdmablk bench rdmablk://storage1/scratch --rw randread --bs 4k --depth 32\n"
    "  rdmablk mount rdmablk://storage1/scratch /mnt/scratch\n"
    "  rdmablk timeouts /mnt/scratch\n"
    "  rdmablk copy disk.img rdmablk://storage1/disk --verify\n"
    "  rdmablk doctor storage1\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. `rdmablk COMMAND --help` says more.";

/// The command that the line names, as far as it could be read; the program itself without one.
const CLI::App& named_command(const CLI::App& program) {
  const CLI::App* command = &program;
  for (auto next = command->get_subcommands(); !next.empty(); next = command->get_subcommands()) {
    command = next.front();
  }
  return *command;
}

/// "export add"; empty for the program.
std::string name_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  if (parent == nullptr) return "";
  const std::string family = name_of(*parent);
  return family.empty() ? command.get_name() : family + " " + command.get_name();
}

std::string complaint(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = named_command(program);
  const auto unknown = command.remaining();
  const bool is_family = command.get_require_subcommand_min() > 0;
  if (is_family && unknown.empty()) return "which command?";
  if (!unknown.empty()) return complaint_about_word(command, unknown.front());
  return complaint_about_values(command, error);
}

[[noreturn]] void refuse(const CLI::App& program, const CLI::ParseError& error) {
  const std::string name = name_of(named_command(program));
  throw UsageError(fmt::format("{}; see `rdmablk {}--help`", complaint(program, error),
                               name.empty() ? "" : name + " "));
}

}  // namespace

CommandLine::CommandLine()
    : program_(std::make_unique<CLI::App>(
          "Uses the memory and files that other machines lend over RDMA.", "rdmablk")) {
  CLI::App& program = *program_;
  program.set_help_flag("-h,--help", "print this help and exit");
  add_version_option(program);
  program.require_subcommand(1);
  program.option_defaults()->take_last();
  program.footer(kProgramFooter);
  commands_.push_back(std::make_unique<DevicesCommand>(program));
  commands_.push_back(std::make_unique<ListCommand>(program));
  commands_.push_back(std::make_unique<InfoCommand>(program));
  commands_.push_back(std::make_unique<BenchCommand>(program));
  commands_.push_back(std::make_unique<MountCommand>(program));
  commands_.push_back(std::make_unique<UnmountCommand>(program));
  commands_.push_back(std::make_unique<MountsCommand>(program));
  commands_.push_back(std::make_unique<TimeoutsCommand>(program));
  commands_.push_back(std::make_unique<copy::CopyCommand>(program));
  commands_.push_back(std::make_unique<copy::FillCommand>(program));
  commands_.push_back(std::make_unique<copy::ZeroCommand>(program));
  commands_.push_back(std::make_unique<copy::HexdumpCommand>(program));
  commands_.push_back(std::make_unique<KeygenCommand>(program));
  commands_.push_back(std::make_unique<doctor::DoctorCommand>(program));
  commands_.push_back(std::make_unique<mapping::MapCommand>(program));
  commands_.push_back(std::make_unique<mapping::UnmapCommand>(program));
  add_target_commands(program, commands_);
  refuse_empty_values(program);
}

CommandLine::~CommandLine() = default;

Command* CommandLine::parse(int argc, const char* const* argv) {
  check_words(argc, argv);
  try {
    program_->parse(argc, argv);
  } catch (const CLI::Success& success) {  // help or version was asked for
    program_->exit(success);
    return nullptr;
  } catch (const CLI::ParseError& error) {
    refuse(*program_, error);
  }
  for (const auto& command : commands_) {
    if (command->chosen()) return command.get();
  }
  return nullptr;
}

int run_command_line(int argc, char** argv) {
  CommandLine line;
  Command* const command = line.parse(argc, argv);
  return command != nullptr ? command->run() : kExitDone;
}

}  // namespace rdmablk::cli
