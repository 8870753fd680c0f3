#include "cmd/refuse.h"

#include <string>

#include "cmd/exit_code.h"
#include "cmd/standard_streams.h"

namespace hvd {

int Refuse(const Error& error) {
  std::string text = "hvdrun: error: " + error.message() + '\n';
  if (!error.hint().empty()) text += "hvdrun: hint: " + error.hint() + '\n';
  text += "hvdrun: " + ExitLineOfRefusal() + '\n';
  WriteStderr(text);
  return kExitOwnFault;
}

}  // namespace hvd
