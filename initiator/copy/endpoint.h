#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "initiator/copy/disk_image.h"
#include "initiator/copy/pattern.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

namespace rdmablk::copy {

enum class EndpointKind { remote, disk, stream };

/// What a word of the command line names: "rdmablk://HOST/EXPORT" an export, "-" a stream, and
/// anything else a file or block device. Throws UsageError for a URI that makes no sense.
EndpointKind kind_of(std::string_view word);

/// How to attach exports.
struct RemoteOptions {
  initiator::SessionOptions session;
  initiator::AttachOptions attach;
};

/// One end of a copy, and whatever it takes to have it.
class Endpoint {
 public:
  /// Attaches an export. Throws Error.
  static Endpoint remote(const Uri& uri, const RemoteOptions& options);

  /// A file or block device. Throws Error.
  static Endpoint source_file(const std::string& path);
  static Endpoint destination_file(const std::string& path);

  static Endpoint standard_input();
  static Endpoint standard_output();

  /// So many bytes that are made as they are read.
  static Endpoint generated(Pattern pattern, std::uint64_t size);

  /// Any image of a fixed size.
  Endpoint(std::string name, std::unique_ptr<initiator::Image> image)
      : name_(std::move(name)), image_(std::move(image)) {}

  /// As it was named, for messages.
  const std::string& name() const noexcept { return name_; }
  initiator::Image& image() const noexcept { return *image_; }
  std::uint64_t size() const noexcept { return image_->info().size; }

  /// What it is besides an image; null: it is none.
  initiator::Session* session() const noexcept { return session_.get(); }
  initiator::RemoteImage* remote() const noexcept;
  DiskImage* disk() const noexcept;
  bool is_stream() const noexcept { return is_stream_; }

  /// Whether it has a size of its own, which copying does not change.
  bool has_fixed_size() const noexcept;

 private:
  std::string name_;
  std::unique_ptr<initiator::Session> session_;  // outlives the image
  std::unique_ptr<initiator::Image> image_;
  bool is_stream_ = false;
};

}  // namespace rdmablk::copy
