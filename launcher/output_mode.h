// How workers' output is shown: the words of --output and --output-files.
#pragma once

namespace hvd {

enum class OutputMode {
  kTag,   // "[3]<stdout>:text"
  kRaw,   // bytes as they are
  kNone,  // nothing on hvdrun's own stdout and stderr
};

enum class OutputFilesMode {
  kTee,   // to a file per worker and to hvdrun's own stdout and stderr
  kOnly,  // to the files alone
};

}  // namespace hvd
