/* One dqlite node: Node ID ADDRESS FOLDER. It prints a line when it is ready, and ends with its
 * standard input. */
#include <dqlite.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What go-dqlite and LXD set: with it a leader that is silent for 300 ms loses its leadership. */
#define LATENCY_MS 20

int main(int argc, char **argv) {
  dqlite_node *node;
  char byte;
  if (argc != 4) return 64;
  /* Another node may die while this one writes to it. */
  signal(SIGPIPE, SIG_IGN);
  if (dqlite_node_create(strtoull(argv[1], NULL, 10), argv[2], argv[3], &node) ||
      dqlite_node_set_bind_address(node, argv[2]) ||
      dqlite_node_set_network_latency_ms(node, LATENCY_MS) || dqlite_node_start(node)) {
    fprintf(stderr, "%s\n", dqlite_node_errmsg(node));
    return 1;
  }
  puts("ready");
  fflush(stdout);
  while (read(0, &byte, 1) > 0) {
  }
  _exit(0);
}
