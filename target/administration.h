#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/messages.h"
#include "common/protocol/use_report.h"
#include "target/counts.h"
#include "target/export_origin.h"
#include "target/export_spec.h"
#include "target/file_figures.h"

namespace rdmablk::target {

/// An export as an administrator sees it.
struct ExportStatus {
  ExportSpec spec;
  ExportOrigin origin = ExportOrigin::command_line;
  std::uint64_t size = 0;  ///< bytes that are offered now
  protocol::Uuid uuid{};
  protocol::Generation generation{};
  std::uint64_t lease = 0;             ///< the number of the last one; 0: none, or it takes none
  std::uint64_t registered_bytes = 0;  ///< what is registered twice counts twice
  std::size_t readers = 0;             ///< attachments for reading
  std::size_t writers = 0;             ///< attachments for writing, too
  bool is_leaving = false;             ///< it is being removed
  std::optional<FileFigures> file{};   ///< of one with a file
  protocol::Use reported{};            ///< what all its initiators say that they have done
};

/// One session's use of an export as an administrator sees it.
struct AttachmentStatus {
  std::string export_name;
  protocol::Access access{};
  std::size_t queues = 0;    ///< I/O queues that are connected
  protocol::Use reported{};  ///< what its initiator says that it has done
};

/// A session as an administrator sees it.
struct SessionStatus {
  std::uint32_t id = 0;
  std::string address;                  ///< of the initiator, with its port
  std::string client;                   ///< its proved name; empty without authentication
  std::string device;                   ///< the RDMA device that it came over
  std::chrono::seconds age{};           ///< since it came
  std::chrono::milliseconds silence{};  ///< since it said something
  std::vector<AttachmentStatus> attachments;
};

struct RemoveOptions {
  bool force = false;    ///< ends the attachments that there are, in place of being refused
  bool discard = false;  ///< drops what a memory export holds, in place of being refused
};

/// What an administrator may ask of a running target. Used by its control thread; nothing blocks:
/// what takes long goes on on other threads while sessions are served.
class Administration {
 public:
  virtual ~Administration() = default;

  /// Told once, by the control thread, maybe from within the call.
  /// @param failure why it was not done, for people, one line; nothing: it is done.
  using Done = std::function<void(std::optional<std::string> failure)>;

  virtual std::vector<ExportStatus> exports() const = 0;
  virtual std::vector<SessionStatus> sessions() const = 0;
  virtual Counts counts() const = 0;

  /// Makes an export and offers it.
  virtual void add_export(const ExportSpec& spec, ExportOrigin origin, Done done) = 0;

  /// Takes an export away: no new attachment, then none, then it is settled and forgotten.
  virtual void remove_export(const std::string& name, const RemoveOptions& options, Done done) = 0;

  /// Has an export be as if another had asked for it: see ExportChanges::adopt().
  virtual void adopt_export(const std::string& name, ExportOrigin origin, Done done) = 0;

  /// Gives an export another size; the initiators that have it learn of it.
  /// @param size bytes, a multiple of 512.
  virtual void resize_export(const std::string& name, std::uint64_t size, Done done) = 0;

  /// Ends a session, which is told why. Its initiator may come back.
  /// @return whether there was one of that number.
  virtual bool evict(std::uint32_t session, const std::string& reason) = 0;

  /// Reads keys and configuration again, and brings the exports to what that asks for.
  virtual void reload(Done done) = 0;
};

}  // namespace rdmablk::target
