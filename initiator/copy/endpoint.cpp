#include "initiator/copy/endpoint.h"

#include <unistd.h>

#include "common/uri.h"
#include "initiator/copy/pattern_image.h"
#include "initiator/copy/stream_image.h"

namespace rdmablk::copy {

EndpointKind kind_of(std::string_view word) {
  if (word == "-") return EndpointKind::stream;
  if (!word.starts_with("rdmablk:")) return EndpointKind::disk;
  parse_uri(word);
  return EndpointKind::remote;
}

Endpoint Endpoint::remote(const Uri& uri, const RemoteOptions& options) {
  auto session = initiator::Session::connect(uri.target, options.session);
  auto image = session->attach(uri.export_name, options.attach);
  Endpoint endpoint(uri.text(), std::move(image));
  endpoint.session_ = std::move(session);
  return endpoint;
}

Endpoint Endpoint::source_file(const std::string& path) {
  return {path, DiskImage::open_for_reading(path)};
}

Endpoint Endpoint::destination_file(const std::string& path) {
  return {path, DiskImage::open_for_writing(path)};
}

Endpoint Endpoint::standard_input() {
  const std::string name = "standard input";
  Endpoint endpoint(name, std::make_unique<StreamImage>(STDIN_FILENO, name));
  endpoint.is_stream_ = true;
  return endpoint;
}

Endpoint Endpoint::standard_output() {
  const std::string name = "standard output";
  Endpoint endpoint(name, std::make_unique<StreamImage>(STDOUT_FILENO, name));
  endpoint.is_stream_ = true;
  return endpoint;
}

Endpoint Endpoint::generated(Pattern pattern, std::uint64_t size) {
  return {"the pattern", std::make_unique<PatternImage>(std::move(pattern), size)};
}

initiator::RemoteImage* Endpoint::remote() const noexcept {
  return dynamic_cast<initiator::RemoteImage*>(image_.get());
}

DiskImage* Endpoint::disk() const noexcept {
  return dynamic_cast<DiskImage*>(image_.get());
}

bool Endpoint::has_fixed_size() const noexcept {
  const DiskImage* const file = disk();
  return !is_stream_ && (file == nullptr || file->is_block_device());
}

}  // namespace rdmablk::copy
