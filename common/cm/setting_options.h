#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/cm/settings.h"

namespace CLI {
class App;
}

namespace rdmablk::cm {

/// How people name options: "--gid-index" on a command line, "option gid_index" among a mount's.
enum class Spelling : std::uint8_t { command_line, mount_option };

/// @param name as SettingOption has it.
std::string spelled(std::string_view name, Spelling spelling);

/// An option that sets a part of Settings.
struct SettingOption {
  const char* name;         ///< "gid_index", as in a mount's options and in configurations
  const char* type;         ///< of its value, for --help
  const char* description;  ///< for --help
};

/// All of them, in the order to show them in.
std::span<const SettingOption> setting_options() noexcept;

/// Sets one as people write it.
/// @param name of setting_options(). Throws UsageError, which names the option.
void set(Settings& settings, std::string_view name, Spelling spelling, const std::string& value);

/// How to connect where nobody says: by rdma_cm, or as the environment variable RDMABLK_CM says.
/// Throws UsageError when that says nothing that there is.
Method default_method();

/// Reads "rdmacm" or "tcp".
/// @param option how it is called, for the message. Throws UsageError.
Method read_method(const std::string& option, const std::string& value);

/// What read_method() reads.
const char* method_name(Method method) noexcept;

/// Refuses what a method has no place for. Throws UsageError, which names the option.
void check(const Settings& settings, Method method, Spelling spelling);

/// The group that these options have in --help.
inline constexpr const char* kSettingGroup = "How to connect";

/// Adds them all to a program or command.
/// @param take gets name and value of each that is given; may throw UsageError.
void describe_settings(
    CLI::App& app,
    const std::function<void(std::string_view name, const std::string& value)>& take);

}  // namespace rdmablk::cm
