// stand_in_agent: does what an agent does at its start, and nothing else.
//
// Greets, reads its orders, says on stderr how long they are, and ends with 0
// at the end of its stdin. Linked statically: it runs on hosts that have
// nothing.
#include <unistd.h>

#include <iostream>
#include <string>

#include "launcher/agent_greeting.h"

int main() {
  std::cout << hvd::GreetingLine("1.2.3") << std::flush;
  std::string orders;
  if (!std::getline(std::cin, orders)) return 3;
  std::cerr << "orders: " << orders.size() << " bytes, pid " << ::getpid()
            << std::endl;
  for (std::string more; std::getline(std::cin, more);) {
    std::cerr << "more: " << more << std::endl;
  }
  return 0;
}
