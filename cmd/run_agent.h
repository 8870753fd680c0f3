// RunAgent: the agent program, from its greeting to its end.
#pragma once

namespace hvd {

// Its exit code: 0 if hvdrun said farewell, else 1 and a line on stderr.
int RunAgent();

}  // namespace hvd
