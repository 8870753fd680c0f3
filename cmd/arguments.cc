#include "cmd/arguments.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "cmd/did_you_mean.h"

namespace hvd {
namespace {

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool HasName(const Flag& flag, std::string_view name) {
  return flag.name == name ||
         std::find(flag.aliases.begin(), flag.aliases.end(), name) !=
             flag.aliases.end();
}

const Flag* FindExact(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const Flag& flag : AllFlags()) {
    if (HasName(flag, name)) return &flag;
  }
  return nullptr;
}

Error UnknownFlag(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Flag& flag : AllFlags()) known.push_back(flag.name);
  Error error{ErrorCode::kInvalidArgument, "unknown flag " + std::string(name)};
  const auto near = DidYouMean(name, known);
  if (!near) return error;
  return std::move(error).WithHint("did you mean " + std::string(*near) + "?");
}

Result<const Flag*> FindFlag(std::string_view name) {
  if (const Flag* exact = FindExact(name)) return exact;
  if (!StartsWith(name, "--") || name.size() < 3) return UnknownFlag(name);
  for (const bool horovodrun : {true, false}) {
    std::vector<const Flag*> fits;
    for (const Flag& flag : AllFlags()) {
      if (flag.horovodrun == horovodrun && StartsWith(flag.name, name)) {
        fits.push_back(&flag);
      }
    }
    if (fits.size() == 1) return fits.front();
    if (fits.empty()) continue;
    std::string names;
    for (const Flag* flag : fits) {
      names += (names.empty() ? "" : " or ") + std::string(flag->name);
    }
    return Error{ErrorCode::kInvalidArgument,
                 "flag " + std::string(name) + " is ambiguous"}
        .WithHint("it may be " + names);
  }
  return UnknownFlag(name);
}

// What a value glued to this flag may begin with: "-np" is no "-p".
bool MayBeGlued(std::string_view taker, char first) {
  const bool digit = std::isdigit(static_cast<unsigned char>(first)) != 0;
  if (taker == "-np") return digit || first == '-';
  if (taker == "-p") return digit;
  if (taker == "-i") return first == '/' || first == '.' || first == '~';
  return true;
}

// "-np4", "-np-4", "-Hlocalhost:2", "-p2222": a short flag with its value glued
// on.
std::optional<FlagUse> FindGlued(const std::string& word) {
  constexpr std::array<std::string_view, 4> kTakers = {"-np", "-H", "-p", "-i"};
  for (const std::string_view taker : kTakers) {
    if (!StartsWith(word, taker) || word.size() == taker.size()) continue;
    const std::string value = word.substr(taker.size());
    if (!MayBeGlued(taker, value.front())) continue;
    return FlagUse{FindExact(taker), value, std::string(taker)};
  }
  return std::nullopt;
}

constexpr std::string_view kTwoNumbers = "MIN MAX";

Error NeedsValue(const Flag& flag, const std::string& written) {
  return {ErrorCode::kInvalidArgument, written + " needs a value: " + written +
                                           ' ' + std::string(flag.value)};
}

// Reads one flag, which starts at words[at]; moves `at` past it.
Result<FlagUse> ReadFlag(const std::vector<std::string>& words,
                         std::size_t& at) {
  const std::string& word = words[at++];
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (FindExact(name) == nullptr) {
    if (auto glued = FindGlued(word)) return *glued;
  }
  Result<const Flag*> found = FindFlag(name);
  if (!found.ok()) return std::move(found).error();
  const Flag& flag = *found.value();
  const std::string written =
      HasName(flag, name) ? name : std::string(flag.name);
  if (flag.value.empty()) {
    if (equals == std::string::npos) return FlagUse{&flag, "1", written};
    return Error{ErrorCode::kInvalidArgument, written + " takes no value"};
  }
  if (equals != std::string::npos) {
    return FlagUse{&flag, word.substr(equals + 1), written};
  }
  // "-np -4" and "--ssh-args -v" are values; "-H --verbose" and "-H -np" are a
  // forgotten one.
  if (at == words.size() || StartsWith(words[at], "--") ||
      (flag.id != FlagId::kSshArgs && FindExact(words[at]) != nullptr)) {
    return NeedsValue(flag, written);
  }
  std::string value = words[at++];
  if (flag.value == kTwoNumbers) {  // horovodrun takes two words
    if (at == words.size() || StartsWith(words[at], "-")) {
      return NeedsValue(flag, written);
    }
    value += ' ' + words[at++];
  }
  return FlagUse{&flag, value, written};
}

std::optional<bool> ParseSwitch(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (lower == "1" || lower == "true" || lower == "yes") return true;
  if (lower == "0" || lower == "false" || lower == "no") return false;
  return std::nullopt;
}

void NoteStrangers(const EnvList& env, std::vector<std::string>& notes) {
  std::vector<std::string> names = {"HVDRUN_NP"};
  for (const Flag& flag : AllFlags()) names.push_back(VariableName(flag));
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const auto& [name, value] : env) {
    if (!StartsWith(name, "HVDRUN_") ||
        std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    std::string note = name + " is no flag of hvdrun and has no effect";
    if (const auto near = DidYouMean(name, known)) {
      note += "; did you mean " + std::string(*near) + "?";
    }
    notes.push_back(std::move(note));
  }
}

std::optional<FlagUse> FindVariable(const Flag& flag, const EnvList& env) {
  std::vector<std::string> names = {VariableName(flag)};
  if (flag.id == FlagId::kNumProc) names.emplace_back("HVDRUN_NP");
  for (const std::string& name : names) {
    const auto value = EnvFind(env, name);
    if (value && !value->empty()) {
      return FlagUse{&flag, std::string(*value), name};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Arguments> SplitArguments(const std::vector<std::string>& words) {
  Arguments arguments;
  std::size_t at = 0;
  while (at < words.size() && StartsWith(words[at], "-") && words[at] != "-") {
    if (words[at] == "--") {
      arguments.dashes_before_command = true;
      ++at;
      break;
    }
    Result<FlagUse> use = ReadFlag(words, at);
    if (!use.ok()) return std::move(use).error();
    arguments.flags.push_back(std::move(use).value());
  }
  arguments.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at),
                           words.end());
  return arguments;
}

Result<std::vector<FlagUse>> FlagsFromVariables(
    const EnvList& env, std::vector<std::string>& notes) {
  std::vector<FlagUse> uses;
  NoteStrangers(env, notes);
  for (const Flag& flag : AllFlags()) {
    std::optional<FlagUse> use = FindVariable(flag, env);
    if (!use) continue;
    if (flag.value.empty()) {
      const std::optional<bool> on = ParseSwitch(use->value);
      if (!on) {
        return Error{
            ErrorCode::kInvalidArgument,
            use->written + " must be 1 or 0, got \"" + use->value + "\""};
      }
      if (!*on) continue;
      use->value = "1";
    }
    uses.push_back(std::move(*use));
  }
  return uses;
}

}  // namespace hvd
