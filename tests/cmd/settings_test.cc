#include "cmd/settings.h"

#include <catch2/catch.hpp>
#include <map>

using namespace std::chrono_literals;

namespace hvd {
namespace {

using Words = std::vector<std::string>;

Result<std::string> NoFiles(const std::string& path) {
  return Error{ErrorCode::kNotFound, "open " + path + ": no such file"};
}

Settings Parse(const Words& words, const EnvList& env = {},
               const ReadFile& read_file = NoFiles) {
  const Result<Settings> settings = ParseSettings(words, env, read_file);
  if (!settings.ok()) FAIL(settings.error().message());
  return settings.value();
}

Error ErrorOf(const Words& words, const EnvList& env = {},
              const ReadFile& read_file = NoFiles) {
  const Result<Settings> settings = ParseSettings(words, env, read_file);
  REQUIRE_FALSE(settings.ok());
  CHECK(settings.error().code() == ErrorCode::kInvalidArgument);
  return settings.error();
}

ReadFile OneFile(const std::string& path, const std::string& text) {
  return [=](const std::string& wanted) -> Result<std::string> {
    if (wanted == path) return text;
    return NoFiles(wanted);
  };
}

}  // namespace

TEST_CASE("hvdrun -np alone runs on this machine", "[cmd][unit]") {
  const Settings settings = Parse({"-np", "4", "./train", "--epochs", "3"});
  CHECK(settings.mode == RunMode::kRun);
  CHECK(settings.np == 4);
  CHECK(settings.hosts == HostList{{"localhost", 4}});
  CHECK(settings.command == Words{"./train", "--epochs", "3"});
  CHECK(settings.notes.empty());
}

TEST_CASE("defaults are those of the documentation", "[cmd][unit]") {
  const Settings settings = Parse({"-np", "1", "x"});
  CHECK(settings.start_timeout == 30s);
  CHECK_FALSE(settings.timeout);
  CHECK(settings.collective_timeout == 300s);
  CHECK(settings.stop_grace == 10s);
  CHECK(settings.rank_env == RankEnv::kStandard);
  CHECK(settings.stdin_rank == 0);
  CHECK(settings.output == OutputMode::kTag);
  CHECK(settings.output_files == OutputFilesMode::kTee);
  CHECK(settings.driver_log == DriverLog::kAll);
  CHECK_FALSE(settings.output_timestamps);
  CHECK_FALSE(settings.verbose);
  CHECK_FALSE(settings.explain);
  CHECK_FALSE(settings.log_level);
}

TEST_CASE("every flag reaches its setting", "[cmd][unit]") {
  const Settings settings = Parse({"-np",
                                   "3",
                                   "-H",
                                   "a:2,b:2",
                                   "--output-filename",
                                   "out",
                                   "--output-files",
                                   "only",
                                   "--output",
                                   "raw",
                                   "--prefix-output-with-timestamp",
                                   "--verbose",
                                   "--log-level",
                                   "debug",
                                   "--start-timeout",
                                   "5",
                                   "--timeout",
                                   "0.5",
                                   "--collective-timeout",
                                   "7.25",
                                   "--stop-grace-secs",
                                   "0",
                                   "--rank-env",
                                   "mpi",
                                   "--env",
                                   "A=b c",
                                   "--env",
                                   "B=",
                                   "--stdin",
                                   "2",
                                   "--report",
                                   "r.json",
                                   "--explain",
                                   "--driver-log",
                                   "callback-only",
                                   "--result-file",
                                   "res",
                                   "x"});
  CHECK(settings.np == 3);
  CHECK(settings.hosts == HostList{{"a", 2}, {"b", 2}});
  CHECK(settings.output_dir == "out");
  CHECK(settings.output_files == OutputFilesMode::kOnly);
  CHECK(settings.output == OutputMode::kRaw);
  CHECK(settings.output_timestamps);
  CHECK(settings.verbose);
  CHECK(settings.log_level == LogLevel::kDebug);
  CHECK(settings.start_timeout == 5s);
  CHECK(settings.timeout == 500ms);
  CHECK(settings.collective_timeout == 7250ms);
  CHECK(settings.stop_grace == 0s);
  CHECK(settings.rank_env == RankEnv::kMpi);
  CHECK(settings.env == std::vector<EnvRequest>{{"A", "b c"}, {"B", ""}});
  CHECK(settings.stdin_rank == 2);
  CHECK(settings.report_file == "r.json");
  CHECK(settings.explain);
  CHECK(settings.driver_log == DriverLog::kCallbackOnly);
  CHECK(settings.result_file == "res");
}

TEST_CASE("fewer workers than slots are exactly that many", "[cmd][unit]") {
  const Settings settings = Parse({"-np", "4", "-H", "localhost:8", "x"});
  CHECK(settings.np == 4);
  CHECK(settings.hosts == HostList{{"localhost", 8}});
}

TEST_CASE("without -np every slot of the given hosts gets a worker",
          "[cmd][unit]") {
  CHECK(Parse({"-H", "a:2,b:3", "x"}).np == 5);
  CHECK(
      Parse({"--hostfile", "h", "x"}, {}, OneFile("h", "a slots=2\nb\n")).np ==
      3);
}

TEST_CASE("hvdrun -np and hosts missing is an error that shows the way",
          "[cmd][unit]") {
  const Error error = ErrorOf({"./train"});
  CHECK(error.message() == "-np is missing: how many workers?");
  CHECK(error.hint() == "hvdrun -np 2 ./train starts two on this machine");
}

TEST_CASE("more workers than slots is refused with both numbers and the fix",
          "[cmd][unit]") {
  // Horovod #978.
  const Error one = ErrorOf({"-np", "2", "-H", "localhost", "true"});
  CHECK(one.message() ==
        "-np asks for 2 workers, but there is 1 slot: localhost:1");
  CHECK(one.hint() == "-H localhost:2, or -np 1");
  const Error two =
      ErrorOf({"-np", "5", "-H", "localhost:2,127.0.0.2:2", "true"});
  CHECK(two.message() ==
        "-np asks for 5 workers, but there are 4 slots: "
        "localhost:2,127.0.0.2:2");
  CHECK(two.hint() == "-H localhost:2,127.0.0.2:3, or -np 4");
  const Error file = ErrorOf({"-np", "3", "--hostfile", "h", "true"}, {},
                             OneFile("h", "a\nb\n"));
  CHECK(file.hint() == "write \"b:2\" in h, or -np 2");
}

TEST_CASE("a number of workers that makes no sense is refused", "[cmd][unit]") {
  CHECK(ErrorOf({"-np", "0", "x"}).message() == "-np must not be 0, got \"0\"");
  CHECK(ErrorOf({"-np", "x", "true"}).message() ==
        "-np must be a whole number, got \"x\"");
  CHECK(ErrorOf({"-np", "2.5", "true"}).message() ==
        "-np must be a whole number, got \"2.5\"");
  CHECK(ErrorOf({"-np", "", "true"}).message() ==
        "-np must be a whole number, got \"\"");
  CHECK(ErrorOf({"-np", "99999999999", "true"}).message() ==
        "-np must be a whole number, got \"99999999999\"");
  CHECK(ErrorOf({"-np", "65536", "true"}).message() ==
        "-np must be at most 65535, got \"65536\"");
}

TEST_CASE("a negative -np runs that many here, whatever the host flags say",
          "[cmd][unit]") {
  const Settings settings = Parse({"-np", "-4", "-H", "far:away,:::", "x"});
  CHECK(settings.np == 4);
  CHECK(settings.hosts == HostList{{"localhost", 4}});
  CHECK(settings.notes == Words{"-np -4: running 4 workers on this machine, "
                                "-H has no effect"});
  CHECK(Parse({"-np", "-1", "x"}).notes ==
        Words{"-np -1: running 1 worker on this machine"});
  CHECK(Parse({"-np", "-2", "x"}, {{"HVDRUN_HOSTFILE", "/gone"}}).notes ==
        Words{"-np -2: running 2 workers on this machine, HVDRUN_HOSTFILE has "
              "no effect"});
}

TEST_CASE("a flag wins over its variable, a variable over the default",
          "[cmd][unit]") {
  const EnvList env = {{"HVDRUN_TIMEOUT", "9"}, {"HVDRUN_NUM_PROC", "7"}};
  CHECK(Parse({"x"}, env).np == 7);
  CHECK(Parse({"x"}, env).timeout == 9s);
  CHECK(Parse({"-np", "2", "--timeout", "1", "x"}, env).np == 2);
  CHECK(Parse({"-np", "2", "--timeout", "1", "x"}, env).timeout == 1s);
}

TEST_CASE("the last of a flag given twice wins", "[cmd][unit]") {
  CHECK(Parse({"-np", "2", "-np", "3", "x"}).np == 3);
}

TEST_CASE("a host flag beats the other one given as a variable",
          "[cmd][unit]") {
  const EnvList env = {{"HVDRUN_HOSTFILE", "/gone"}};
  CHECK(Parse({"-H", "a:2", "x"}, env).hosts == HostList{{"a", 2}});
  CHECK(ErrorOf({"-H", "a:2", "--hostfile", "h", "x"}).message() ==
        "-H and --hostfile exclude each other");
  CHECK(ErrorOf({"x"}, {{"HVDRUN_HOSTS", "a"}, {"HVDRUN_HOSTFILE", "h"}})
            .message() ==
        "HVDRUN_HOSTS and HVDRUN_HOSTFILE exclude each other");
}

TEST_CASE("hvdrun --env adds up and takes what hvdrun has for a bare name",
          "[cmd][unit]") {
  const EnvList env = {{"B", "from here"}, {"HVDRUN_ENV", "Z=1\nY=2\n"}};
  const Settings settings =
      Parse({"-np", "1", "--env", "A=b=c", "--env", "B", "x"}, env);
  CHECK(settings.env ==
        std::vector<EnvRequest>{
            {"Z", "1"}, {"Y", "2"}, {"A", "b=c"}, {"B", "from here"}});
  CHECK(ErrorOf({"-np", "1", "--env", "=x", "y"}).message() ==
        "--env must be NAME or NAME=VALUE, got \"=x\"");
}

TEST_CASE("hvdrun --env of a name that is not set is a note, not an error",
          "[cmd][unit]") {
  // Horovod #2340.
  const Settings settings = Parse({"-np", "1", "--env", "MISSING", "x"});
  CHECK(settings.env.empty());
  CHECK(settings.notes ==
        Words{"--env MISSING: not set here, so no worker gets it"});
}

TEST_CASE("hvdrun --stdin takes a rank of the job or none", "[cmd][unit]") {
  CHECK_FALSE(Parse({"-np", "2", "--stdin", "none", "x"}).stdin_rank);
  CHECK(Parse({"-np", "2", "--stdin", "1", "x"}).stdin_rank == 1);
  CHECK(ErrorOf({"-np", "2", "--stdin", "2", "x"}).message() ==
        "--stdin 2: there is no such rank, only 0 to 1");
  CHECK(ErrorOf({"-np", "2", "--stdin", "-1", "x"}).message() ==
        "--stdin must be a rank or none, got \"-1\"");
}

TEST_CASE("bad values are refused in words, with the flag as it was written",
          "[cmd][unit]") {
  CHECK(ErrorOf({"-np", "1", "--timeout", "5m", "x"}).message() ==
        "--timeout must be a number of seconds, like 30 or 0.5, got \"5m\"");
  CHECK(ErrorOf({"-np", "1", "--timeout", "0", "x"}).message() ==
        "--timeout must be more than 0 seconds, got \"0\"");
  CHECK(ErrorOf({"-np", "1", "--start-timeout=-1", "x"}).message() ==
        "--start-timeout must be a number of seconds, like 30 or 0.5, got "
        "\"-1\"");
  CHECK(ErrorOf({"-np", "1", "x"}, {{"HVDRUN_STOP_GRACE_SECS", "soon"}})
            .message() ==
        "HVDRUN_STOP_GRACE_SECS must be a number of seconds, like 30 or 0.5, "
        "got \"soon\"");
  CHECK(ErrorOf({"-np", "1", "--output", "loud", "x"}).message() ==
        "--output must be one of tag, raw, none, got \"loud\"");
  CHECK(ErrorOf({"-np", "1", "--rank-env", "slurm", "x"}).message() ==
        "--rank-env must be mpi, got \"slurm\"");
  CHECK(ErrorOf({"-np", "1", "--log-level", "loud", "x"}).message() ==
        "--log-level must be one of TRACE, DEBUG, INFO, WARNING, ERROR, "
        "FATAL, got \"loud\"");
  CHECK(ErrorOf({"-np", "1", "--report", "", "x"}).message() ==
        "--report must not be empty, got \"\"");
}

TEST_CASE("flags that need --output-filename say so", "[cmd][unit]") {
  CHECK(ErrorOf({"-np", "1", "--output-files", "only", "x"}).message() ==
        "--output-files only needs --output-filename DIR");
  CHECK(ErrorOf({"-np", "1", "--driver-log", "callback-only", "x"}).message() ==
        "--driver-log callback-only needs --output-filename DIR, where the "
        "full output goes");
}

TEST_CASE("a command that looks like a host gets a hint about commas",
          "[cmd][unit]") {
  // Horovod #2090.
  const Error error =
      ErrorOf({"-np", "4", "-H", "localhost:0", "10.77.0.1:2", "true"});
  CHECK(error.message() == "the command \"10.77.0.1:2\" looks like a host");
  CHECK(error.hint() ==
        "hosts are separated by commas, not blanks: -H "
        "localhost:0,10.77.0.1:2");
  CHECK(Parse({"-np", "1", "--", "odd:2"}).command == Words{"odd:2"});
  CHECK(Parse({"-np", "1", "./odd:2"}).command == Words{"./odd:2"});
  CHECK(Parse({"-np", "1", "odd:name"}).command == Words{"odd:name"});
}

TEST_CASE("a host without slots is an error that names it", "[cmd][unit]") {
  CHECK(ErrorOf({"-np", "1", "-H", "localhost:0", "true"}).message() ==
        "-H: slots must be 1 or more, got \"0\": \"localhost:0\"");
}

TEST_CASE("an IPv6 host without brackets keeps its hint", "[cmd][unit]") {
  const Error error = ErrorOf({"-np", "1", "-H", "fd77::1", "true"});
  CHECK(error.message() ==
        "-H: an IPv6 address must be in brackets: \"fd77::1\"");
  CHECK(error.hint().find("[fd77::1]:1") != std::string::npos);
}

TEST_CASE("a missing or empty command is an error", "[cmd][unit]") {
  CHECK(ErrorOf({"-np", "2"}).message() == "the command to run is missing");
  CHECK(ErrorOf({}).message() == "the command to run is missing");
  CHECK(ErrorOf({"-np", "2", ""}).message() ==
        "the command to run is an empty word");
}

TEST_CASE("a host list or hostfile that names nobody is an error",
          "[cmd][unit]") {
  CHECK(ErrorOf({"-H", ",", "x"}).message() == "-H names no host, got \",\"");
  CHECK(ErrorOf({"--hostfile", "h", "x"}, {}, OneFile("h", "# none\n"))
            .message() == "hostfile h names no host");
  CHECK(ErrorOf({"--hostfile", "gone", "x"}).message() ==
        "--hostfile: open gone: no such file");
  CHECK(ErrorOf({"--hostfile", "h", "x"}, {}, OneFile("h", "a\nb lots=8\n"))
            .message() ==
        "hostfile h:2: after the host come slots=N, port=N or nothing: \"b "
        "lots=8\"");
}

TEST_CASE("what replaces a run needs neither -np nor a command",
          "[cmd][unit]") {
  CHECK(Parse({"--help"}).mode == RunMode::kHelp);
  CHECK(Parse({"-v"}).mode == RunMode::kVersion);
  CHECK(Parse({"--check-build"}).mode == RunMode::kCheckBuild);
  CHECK(Parse({"--dry-run", "--help"}).mode == RunMode::kHelp);
  CHECK(ErrorOf({"--dry-run"}).message() == "the command to run is missing");
  CHECK(Parse({"--dry-run", "-np", "2", "x"}).mode == RunMode::kDryRun);
}

TEST_CASE("hvdrun --network-interfaces adds up, and beats its variable",
          "[cmd][unit]") {
  const Words ab = {"eth0", "ib0"};
  CHECK(Parse({"-np", "1", "x"}).network_interfaces.empty());
  CHECK(Parse({"--network-interfaces", "eth0, ib0,eth0", "-np", "1", "x"})
            .network_interfaces == ab);
  CHECK(Parse({"--network-interface", "eth0", "--network-interface", "ib0",
               "-np", "1", "x"})
            .network_interfaces == ab);
  const EnvList env = {{"HVDRUN_NETWORK_INTERFACES", "eth0,ib0"}};
  CHECK(Parse({"-np", "1", "x"}, env).network_interfaces == ab);
  CHECK(Parse({"--network-interface=lo", "-np", "1", "x"}, env)
            .network_interfaces == Words{"lo"});
}

TEST_CASE("hvdrun --network-interfaces refuses what is no name",
          "[cmd][unit]") {
  for (const char* bad : {"eth0,,ib0", ",", "a b", "eth0/1", "10.0.0.1/24",
                          "an-interface-so-long"}) {
    INFO(bad);
    CHECK(ErrorOf({"--network-interfaces", bad, "-np", "1", "x"}).message() ==
          "--network-interfaces must be names of interfaces, such as "
          "eth0,ib0, got \"" +
              std::string(bad) + "\"");
  }
}

TEST_CASE("hvdrun --port-range is two ports in order", "[cmd][unit]") {
  CHECK(Parse({"-np", "1", "x"}).port_range.any());
  CHECK(Parse({"--port-range", "40000-40099", "-np", "1", "x"}).port_range ==
        PortRange{40000, 40099});
  CHECK(Parse({"-np", "1", "x"}, {{"HVDRUN_PORT_RANGE", "4000"}}).port_range ==
        PortRange{4000, 4000});
  CHECK(ErrorOf({"--port-range", "0-9", "-np", "1", "x"}).message() ==
        "--port-range must be two ports from 1 to 65535, such as 40000-40099, "
        "got \"0-9\"");
  CHECK(ErrorOf({"--port-range", "9-8", "-np", "1", "x"}).message() ==
        "--port-range must begin with the lower port, got \"9-8\"");
}

}  // namespace hvd
