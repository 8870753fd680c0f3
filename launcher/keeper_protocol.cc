#include "launcher/keeper_protocol.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "base/overloaded.h"

namespace hvd {
namespace {

enum class CommandType : std::uint8_t {
  kConfigure,
  kLaunch,
  kSignal,
  kStopAll
};
enum class EventType : std::uint8_t {
  kStarted,
  kStartFailed,
  kExited,
  kStopped
};

using FrameLength = std::uint32_t;

class Writer {
 public:
  template <class T>
  void Number(T value) {
    static_assert(std::is_integral_v<T>);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text_.append(bytes, sizeof value);
  }
  template <class E>
  void Enum(E value) {
    Number(static_cast<std::underlying_type_t<E>>(value));
  }
  void Text(std::string_view text) {
    Number(static_cast<std::uint32_t>(text.size()));
    text_.append(text);
  }

  Result<std::string> Take() && {
    const std::size_t body = text_.size() - sizeof(FrameLength);
    if (body > kMaxKeeperFrame) {
      return Error{ErrorCode::kInvalidArgument,
                   "frame of " + std::to_string(body) + " bytes: too long"};
    }
    const auto length = static_cast<FrameLength>(body);
    std::memcpy(text_.data(), &length, sizeof length);
    return std::move(text_);
  }

 private:
  std::string text_ = std::string(sizeof(FrameLength), '\0');
};

// After the first field that is not there, everything reads as zero or empty
// and Finish() fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  template <class T>
  T Number() {
    static_assert(std::is_integral_v<T>);
    T value{};
    if (text_.size() < sizeof value) {
      Fail();
      return value;
    }
    std::memcpy(&value, text_.data(), sizeof value);
    text_.remove_prefix(sizeof value);
    return value;
  }
  std::string Text() {
    const auto size = Number<std::uint32_t>();
    if (size > text_.size()) {
      Fail();
      return {};
    }
    std::string text(text_.substr(0, size));
    text_.remove_prefix(size);
    return text;
  }
  // How many items follow; each takes at least `item_size` bytes, so that a
  // false count can't make anyone allocate.
  std::size_t Count(std::size_t item_size) {
    const auto count = Number<std::uint32_t>();
    if (count > text_.size() / item_size) {
      Fail();
      return 0;
    }
    return count;
  }
  LaunchId Id() { return LaunchId{Number<int>()}; }
  void Fail() {
    failed_ = true;
    text_ = {};
  }
  Status Finish() const {
    if (failed_) {
      return Error{ErrorCode::kInvalidArgument, "keeper frame: malformed"};
    }
    if (!text_.empty()) {
      return Error{
          ErrorCode::kInvalidArgument,
          "keeper frame: " + std::to_string(text_.size()) + " bytes left over"};
    }
    return Done{};
  }

 private:
  std::string_view text_;
  bool failed_ = false;
};

Duration ReadGrace(Reader& reader) {
  // A day is more than any grace; the sum with a time must not overflow.
  constexpr std::int64_t kLongest = 24LL * 3600 * 1000;
  const auto ms = reader.Number<std::int64_t>();
  if (ms < 0 || ms > kLongest) reader.Fail();
  return Duration(ms);
}

KeeperConfigure ReadConfigure(Reader& reader) {
  KeeperConfigure configure;
  configure.grace = ReadGrace(reader);
  if (reader.Number<std::uint8_t>() != 0) {
    FdLimit limit;
    limit.soft = reader.Number<std::uint64_t>();
    limit.hard = reader.Number<std::uint64_t>();
    configure.nofile = limit;
  }
  return configure;
}

KeeperLaunch ReadLaunch(Reader& reader) {
  KeeperLaunch launch;
  launch.id = reader.Id();
  launch.cwd = reader.Text();
  launch.argv.resize(reader.Count(sizeof(std::uint32_t)));
  for (std::string& word : launch.argv) word = reader.Text();
  launch.env.resize(reader.Count(2 * sizeof(std::uint32_t)));
  for (auto& [name, value] : launch.env) {
    name = reader.Text();
    value = reader.Text();
  }
  if (launch.argv.empty()) reader.Fail();
  return launch;
}

KeeperSignal ReadSignal(Reader& reader) {
  KeeperSignal signal;
  signal.id = reader.Id();
  signal.signo = reader.Number<int>();
  if (signal.signo < 1 || signal.signo > 64) reader.Fail();
  return signal;
}

KeeperStartFailed ReadStartFailed(Reader& reader) {
  KeeperStartFailed failed;
  failed.id = reader.Id();
  const auto code = reader.Number<int>();
  if (code < 0 || code > static_cast<int>(ErrorCode::kInternal)) reader.Fail();
  failed.code = static_cast<ErrorCode>(code);
  failed.message = reader.Text();
  return failed;
}

KeeperExited ReadExited(Reader& reader) {
  KeeperExited exited;
  exited.id = reader.Id();
  exited.status.code = reader.Number<int>();
  exited.status.signal = reader.Number<int>();
  return exited;
}

KeeperStarted ReadStarted(Reader& reader) {
  KeeperStarted started;
  started.id = reader.Id();
  started.pid = reader.Number<pid_t>();
  if (started.pid <= 0) reader.Fail();
  return started;
}

Error UnknownType(std::uint8_t type) {
  return {ErrorCode::kInvalidArgument,
          "keeper frame: unknown type " + std::to_string(type)};
}

// `body` was read completely, or the reader says why not.
template <class Message, class Body>
Result<Message> Checked(const Reader& reader, Body body) {
  const Status status = reader.Finish();
  if (!status.ok()) return status.error();
  return Message(std::move(body));
}

void Write(Writer& out, const KeeperConfigure& configure) {
  out.Enum(CommandType::kConfigure);
  out.Number(std::int64_t{configure.grace.count()});
  out.Number(static_cast<std::uint8_t>(configure.nofile ? 1 : 0));
  if (!configure.nofile) return;
  out.Number(configure.nofile->soft);
  out.Number(configure.nofile->hard);
}

void Write(Writer& out, const KeeperLaunch& launch) {
  out.Enum(CommandType::kLaunch);
  out.Enum(launch.id);
  out.Text(launch.cwd);
  out.Number(static_cast<std::uint32_t>(launch.argv.size()));
  for (const std::string& word : launch.argv) out.Text(word);
  out.Number(static_cast<std::uint32_t>(launch.env.size()));
  for (const auto& [name, value] : launch.env) {
    out.Text(name);
    out.Text(value);
  }
}

}  // namespace

Result<std::string> EncodeFrame(const KeeperCommand& command) {
  Writer out;
  std::visit(Overloaded{[&](const KeeperConfigure& c) { Write(out, c); },
                        [&](const KeeperLaunch& launch) { Write(out, launch); },
                        [&](const KeeperSignal& signal) {
                          out.Enum(CommandType::kSignal);
                          out.Enum(signal.id);
                          out.Number(signal.signo);
                        },
                        [&](const KeeperStopAll& stop) {
                          out.Enum(CommandType::kStopAll);
                          out.Number(std::int64_t{stop.grace.count()});
                        }},
             command);
  return std::move(out).Take();
}

Result<std::string> EncodeFrame(const KeeperEvent& event) {
  Writer out;
  std::visit(Overloaded{[&](const KeeperStarted& started) {
                          out.Enum(EventType::kStarted);
                          out.Enum(started.id);
                          out.Number(started.pid);
                        },
                        [&](const KeeperStartFailed& failed) {
                          out.Enum(EventType::kStartFailed);
                          out.Enum(failed.id);
                          out.Enum(failed.code);
                          out.Text(failed.message);
                        },
                        [&](const KeeperExited& exited) {
                          out.Enum(EventType::kExited);
                          out.Enum(exited.id);
                          out.Number(exited.status.code);
                          out.Number(exited.status.signal);
                        },
                        [&](const KeeperAllStopped& stopped) {
                          out.Enum(EventType::kStopped);
                          out.Number(stopped.left);
                        }},
             event);
  return std::move(out).Take();
}

Result<KeeperCommand> DecodeCommand(std::string_view body) {
  Reader reader(body);
  const auto type = reader.Number<std::uint8_t>();
  switch (static_cast<CommandType>(type)) {
    case CommandType::kConfigure:
      return Checked<KeeperCommand>(reader, ReadConfigure(reader));
    case CommandType::kLaunch:
      return Checked<KeeperCommand>(reader, ReadLaunch(reader));
    case CommandType::kSignal:
      return Checked<KeeperCommand>(reader, ReadSignal(reader));
    case CommandType::kStopAll:
      return Checked<KeeperCommand>(reader, KeeperStopAll{ReadGrace(reader)});
  }
  return UnknownType(type);
}

Result<KeeperEvent> DecodeEvent(std::string_view body) {
  Reader reader(body);
  const auto type = reader.Number<std::uint8_t>();
  switch (static_cast<EventType>(type)) {
    case EventType::kStarted:
      return Checked<KeeperEvent>(reader, ReadStarted(reader));
    case EventType::kStartFailed:
      return Checked<KeeperEvent>(reader, ReadStartFailed(reader));
    case EventType::kExited:
      return Checked<KeeperEvent>(reader, ReadExited(reader));
    case EventType::kStopped:
      return Checked<KeeperEvent>(reader,
                                  KeeperAllStopped{reader.Number<int>()});
  }
  return UnknownType(type);
}

void FrameReader::Append(std::string_view bytes) {
  buffer_.erase(0, begin_);
  begin_ = 0;
  buffer_.append(bytes);
}

Result<std::optional<std::string_view>> FrameReader::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  FrameLength length = 0;
  if (rest.size() < sizeof length) return std::optional<std::string_view>();
  std::memcpy(&length, rest.data(), sizeof length);
  if (length > kMaxKeeperFrame) {
    return Error{
        ErrorCode::kInvalidArgument,
        "keeper frame of " + std::to_string(length) + " bytes: too long"};
  }
  if (rest.size() - sizeof length < length) {
    return std::optional<std::string_view>();
  }
  begin_ += sizeof length + length;
  return std::optional<std::string_view>(rest.substr(sizeof length, length));
}

}  // namespace hvd
