// The key-value store of clients that cannot sign, on several hosts.
#include <catch2/catch.hpp>
#include <string>

#include "tests/e2e/host_job.h"

namespace hvd::testing {

TEST_CASE("Workers of another host find the store at their own loopback",
          "[testbed]") {
  const Bed bed({"2"});
  const ProgramResult result = RunOnHosts(
      bed, {"-np", "4", "-H", "a:2,b:2", "sh", "-c",
            "echo at $HOROVOD_GLOO_RENDEZVOUS_ADDR; exec " + StoreClient()});
  INFO(result.out << result.err);
  CHECK(result.status.ToShell() == 0);
  CHECK(Contains(result.out, "[3]<stdout>:at 127.0.0.1\n"));
  CHECK_FALSE(Contains(result.err, "refused"));
}

TEST_CASE("Another user of a host is refused there, and hvdrun says so",
          "[testbed]") {
  const Bed bed({"2"});
  const ProgramResult result =
      RunOnHosts(bed, {"-np", "1", "-H", "b", "setpriv", "--reuid=65534",
                       "--clear-groups", "bash", "-c",
                       "exec 3<>/dev/tcp/$HOROVOD_GLOO_RENDEZVOUS_ADDR/"
                       "$HOROVOD_GLOO_RENDEZVOUS_PORT;"
                       "printf 'GET /a/b HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"});
  INFO(result.out << result.err);
  CHECK(Contains(result.out, "HTTP/1.1 403 Forbidden"));
  CHECK(Contains(result.err,
                 "hvdrun: request on host b refused: unsigned requests are "
                 "served to this job's user only, not to uid 65534\n"));
}

}  // namespace hvd::testing
