#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cm/setting_options.h"
#include "common/cm/settings.h"
#include "initiator/session.h"

namespace rdmablk::initiator {

/// How to connect to a target, as people say it on a command line, in a mount's options, in maptab,
/// or through the library.
struct ConnectionOptions {
  cm::Method method = cm::default_method();
  cm::Settings settings{};
  std::vector<std::string> paths{};  ///< more addresses of the target: HOST[:PORT]

  /// Whether there is an option of this name: "cm", "gid_index".
  static bool has(std::string_view name) noexcept;

  /// Sets one, or adds a path. Throws UsageError, which names the option.
  void set(std::string_view name, cm::Spelling spelling, const std::string& value);

  /// Refuses what does not go together. Throws UsageError, which names the option.
  void check(cm::Spelling spelling) const;

  /// The port of a target for which none is given.
  std::uint16_t default_port() const noexcept { return cm::default_port(method); }

  void apply_to(SessionOptions& options) const;

  bool operator==(const ConnectionOptions&) const = default;
};

/// The port of a target for which none is given, where options such as "ro,cm=tcp" go with it: the
/// last cm= counts. Options that make no sense are for others to refuse. Throws UsageError as
/// cm::default_method() does.
std::uint16_t default_port_of(std::string_view mount_options);

/// Adds the options of all that connects to a target to a program or command.
/// @param options outlives the parsing.
void describe_connection(CLI::App& app, ConnectionOptions& options);

/// The same for who does something else with them.
/// @param take gets name and value of each that is given; may throw UsageError.
void describe_connection(
    CLI::App& app,
    const std::function<void(std::string_view name, const std::string& value)>& take);

}  // namespace rdmablk::initiator
