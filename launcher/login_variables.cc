#include "launcher/login_variables.h"

#include <algorithm>
#include <array>

namespace hvd {
namespace {

constexpr std::array kNames = {std::string_view("HOME"),
                               std::string_view("USER"),
                               std::string_view("LOGNAME"),
                               std::string_view("SHELL"),
                               std::string_view("MAIL"),
                               std::string_view("HOSTNAME"),
                               std::string_view("TMPDIR"),
                               std::string_view("DISPLAY"),
                               std::string_view("PWD"),
                               std::string_view("OLDPWD"),
                               std::string_view("SHLVL"),
                               std::string_view("XAUTHORITY"),
                               std::string_view("XDG_RUNTIME_DIR")};
constexpr std::array kFamilies = {
    std::string_view("SSH_"), std::string_view("XDG_SESSION_"),
    std::string_view("DBUS_"), std::string_view("WAYLAND_")};

}  // namespace

bool IsLoginVariable(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(
             kFamilies.begin(), kFamilies.end(),
             [&](std::string_view family) { return name.starts_with(family); });
}

EnvList WithoutLoginVariables(EnvList env,
                              const std::vector<std::string>& kept) {
  std::erase_if(env, [&](const auto& variable) {
    return IsLoginVariable(variable.first) &&
           std::find(kept.begin(), kept.end(), variable.first) == kept.end();
  });
  return env;
}

EnvList WithLoginVariables(EnvList env, const EnvList& own) {
  for (const auto& variable : own) {
    if (IsLoginVariable(variable.first) && !EnvFind(env, variable.first)) {
      env.push_back(variable);
    }
  }
  return env;
}

}  // namespace hvd
