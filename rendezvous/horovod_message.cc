#include "rendezvous/horovod_message.h"

#include <utility>

#include "base/base64.h"
#include "base/hmac_sha256.h"

namespace hvd {
namespace {

constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kLengthBytes = 4;
// An acknowledgement has 68.
constexpr std::size_t kMaxAnswerBody = 4096;
// Names of interfaces and addresses.
constexpr std::size_t kMaxText = 255;

std::uint64_t LittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

std::string FourBytes(std::uint32_t value) {
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>(value >> shift & 0xFFU);
  }
  return bytes;
}

struct Value {
  enum class Kind { kMark, kText, kBytes, kNumber, kList, kDict, kPair };
  Kind kind = Kind::kMark;
  std::string text = {};     // kText, kBytes
  std::uint64_t number = 0;  // kNumber
  // kList: its items; kPair: two; kDict: keys and values in turn.
  std::vector<Value> items = {};
};

// What is made once is moved, never copied, but for texts, and those are short:
// what a body makes is bounded by its own length.
class PickleReader {
 public:
  explicit PickleReader(std::string_view pickle) : rest_(pickle) {}

  std::optional<Value> Read() {
    while (const std::optional<std::uint64_t> opcode = Number(1)) {
      if (static_cast<char>(*opcode) == '.') {
        if (!rest_.empty() || stack_.size() != 1) return std::nullopt;
        return std::move(stack_.front());
      }
      if (!Step(static_cast<unsigned char>(*opcode))) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // Names of opcodes as in Python's pickletools.
  enum Opcode : unsigned char {
    kMark = '(',
    kBinInt = 'J',
    kBinInt1 = 'K',
    kBinInt2 = 'M',
    kBinUnicode = 'X',
    kEmptyList = ']',
    kAppend = 'a',
    kAppends = 'e',
    kBinGet = 'h',
    kLongBinGet = 'j',
    kSetItem = 's',
    kSetItems = 'u',
    kEmptyDict = '}',
    kShortBinBytes = 'C',
    kProto = 0x80,
    kTuple2 = 0x86,
    kShortBinUnicode = 0x8c,
    kMemoize = 0x94,
    kFrame = 0x95,
  };

  bool Step(unsigned char opcode) {
    switch (opcode) {
      case kProto:
        return Number(1).has_value();
      case kFrame:
        return Number(8).has_value();
      case kMark:
        return Push({Value::Kind::kMark});
      case kEmptyList:
        return Push({Value::Kind::kList});
      case kEmptyDict:
        return Push({Value::Kind::kDict});
      case kBinInt1:
        return PushNumber(1);
      case kBinInt2:
        return PushNumber(2);
      case kBinInt:
        return PushNumber(4);
      case kShortBinUnicode:
        return PushText(Value::Kind::kText, 1);
      case kBinUnicode:
        return PushText(Value::Kind::kText, 4);
      case kShortBinBytes:
        return PushText(Value::Kind::kBytes, 1);
      case kTuple2:
        return MakePair();
      case kAppend:
        return MoveTo(Value::Kind::kList, 1);
      case kSetItem:
        return MoveTo(Value::Kind::kDict, 2);
      case kAppends:
        return MoveToMark(Value::Kind::kList);
      case kSetItems:
        return MoveToMark(Value::Kind::kDict);
      case kMemoize:
        return Memoize();
      case kBinGet:
        return Recall(Number(1));
      case kLongBinGet:
        return Recall(Number(4));
      default:  // not an enum: any byte may come
        return false;
    }
  }

  std::optional<std::string_view> Bytes(std::uint64_t count) {
    if (count > rest_.size()) return std::nullopt;
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  std::optional<std::uint64_t> Number(std::size_t width) {
    const auto bytes = Bytes(width);
    if (!bytes) return std::nullopt;
    return LittleEndian(*bytes);
  }

  bool Push(Value value) {
    stack_.push_back(std::move(value));
    return true;
  }
  bool PushNumber(std::size_t width) {
    const auto number = Number(width);
    return number && Push({.kind = Value::Kind::kNumber, .number = *number});
  }
  bool PushText(Value::Kind kind, std::size_t width) {
    const auto length = Number(width);
    const auto text =
        length && *length <= kMaxText ? Bytes(*length) : std::nullopt;
    return text && Push({.kind = kind, .text = std::string(*text)});
  }

  bool MakePair() {
    if (stack_.size() < 2) return false;
    Value pair{Value::Kind::kPair};
    for (auto at = stack_.end() - 2; at != stack_.end(); ++at) {
      if (at->kind == Value::Kind::kMark) return false;
      pair.items.push_back(std::move(*at));
    }
    stack_.resize(stack_.size() - 2);
    return Push(std::move(pair));
  }

  // The topmost `count` values to the container below them.
  bool MoveTo(Value::Kind container, std::size_t count) {
    if (stack_.size() <= count) return false;
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    Value& into = *(first - 1);
    if (into.kind != container) return false;
    for (auto at = first; at != stack_.end(); ++at) {
      if (at->kind == Value::Kind::kMark) return false;
      into.items.push_back(std::move(*at));
    }
    stack_.resize(stack_.size() - count);
    return true;
  }
  bool MoveToMark(Value::Kind container) {
    std::size_t count = 0;
    for (auto at = stack_.rbegin(); at != stack_.rend(); ++at, ++count) {
      if (at->kind != Value::Kind::kMark) continue;
      if (container == Value::Kind::kDict && count % 2 != 0) return false;
      stack_.erase(at.base() - 1);
      return MoveTo(container, count);
    }
    return false;
  }

  // Only texts come twice in this value. To recall anything else could make
  // something much larger than what was sent.
  bool Memoize() {
    if (stack_.empty()) return false;
    const Value& top = stack_.back();
    memo_.push_back(top.kind == Value::Kind::kText ? std::optional(top.text)
                                                   : std::nullopt);
    return true;
  }
  bool Recall(std::optional<std::uint64_t> index) {
    if (!index || *index >= memo_.size() || !memo_[*index]) return false;
    return Push({.kind = Value::Kind::kText, .text = *memo_[*index]});
  }

  std::string_view rest_;
  std::vector<Value> stack_;
  std::vector<std::optional<std::string>> memo_;
};

std::optional<HorovodListener::Address> ToAddress(const Value& pair) {
  if (pair.kind != Value::Kind::kPair ||
      pair.items[0].kind != Value::Kind::kText ||
      pair.items[1].kind != Value::Kind::kNumber) {
    return std::nullopt;
  }
  const std::uint64_t port = pair.items[1].number;
  if (port == 0 || port > 65535) return std::nullopt;
  return HorovodListener::Address{pair.items[0].text,
                                  static_cast<std::uint16_t>(port)};
}

// ({interface: [(ip, port), …], …}, key)
std::optional<HorovodListener> ToListener(Value value) {
  if (value.kind != Value::Kind::kPair) return std::nullopt;
  const Value& interfaces = value.items[0];
  Value& key = value.items[1];
  if (interfaces.kind != Value::Kind::kDict ||
      key.kind != Value::Kind::kBytes || key.text.size() != kDigestBytes) {
    return std::nullopt;
  }
  HorovodListener listener{{}, std::move(key.text)};
  for (std::size_t i = 0; i + 1 < interfaces.items.size(); i += 2) {
    const Value& addresses = interfaces.items[i + 1];
    if (interfaces.items[i].kind != Value::Kind::kText ||
        addresses.kind != Value::Kind::kList) {
      return std::nullopt;
    }
    for (const Value& pair : addresses.items) {
      auto address = ToAddress(pair);
      if (!address) return std::nullopt;
      listener.addresses.push_back(std::move(*address));
    }
  }
  if (listener.addresses.empty()) return std::nullopt;
  return listener;
}

std::string ShortText(std::string_view text) {
  return "\x8c" + std::string(1, static_cast<char>(text.size())) +
         std::string(text);
}

}  // namespace

std::optional<HorovodListener> ParseWorkerAddresses(std::string_view body) {
  if (body.size() > kMaxWorkerAddresses) return std::nullopt;
  const std::optional<std::string> pickle = FromBase64(body);
  if (!pickle) return std::nullopt;
  std::optional<Value> value = PickleReader(*pickle).Read();
  if (!value) return std::nullopt;
  return ToListener(*std::move(value));
}

std::string HostsUpdatedFrame(std::string_view key, std::int32_t timestamp) {
  // Protocol 4; the class by name, made without arguments, then its state.
  // `res` is a plain number where Python would spell an enumeration: 3, both
  // added and removed.
  const std::string body = "\x80\x04" +
                           ShortText("horovod.runner.elastic.worker") +
                           ShortText("HostsUpdatedRequest") + "\x93)\x81}(" +
                           ShortText("timestamp") + "J" +
                           FourBytes(static_cast<std::uint32_t>(timestamp)) +
                           ShortText("res") + "K\x03" + "ub.";
  return HmacSha256(key, body) +
         FourBytes(static_cast<std::uint32_t>(body.size())) + body;
}

AnswerState JudgeAnswer(std::string_view key, std::string_view bytes) {
  constexpr std::size_t kHead = kDigestBytes + kLengthBytes;
  if (bytes.size() < kHead) return AnswerState::kIncomplete;
  const std::uint64_t length =
      LittleEndian(bytes.substr(kDigestBytes, kLengthBytes));
  if (length > kMaxAnswerBody) return AnswerState::kWrong;
  if (bytes.size() < kHead + length) return AnswerState::kIncomplete;
  if (bytes.size() > kHead + length) return AnswerState::kWrong;
  const std::string_view body = bytes.substr(kHead);
  const bool genuine =
      EqualInConstantTime(HmacSha256(key, body), bytes.substr(0, kDigestBytes));
  return genuine && body.find("AckResponse") != std::string_view::npos
             ? AnswerState::kAcknowledged
             : AnswerState::kWrong;
}

}  // namespace hvd
