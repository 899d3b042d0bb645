#include "FaultyAllocator.h"
#include <sqlite3.h>

static sqlite3_mem_methods own;
static long seen, first, left;

static int fails(void) {
  seen++;
  if (!first || seen < first || left <= 0) return 0;
  left--;
  return 1;
}

static void *allocate(int size) { return fails() ? 0 : own.xMalloc(size); }

static void *reallocate(void *memory, int size) {
  return fails() ? 0 : own.xRealloc(memory, size);
}

// Restarts SQLite with an allocator. Without lookaside every small allocation is one of its own.
static int restart(const sqlite3_mem_methods *methods, int lookaside, int slots) {
  int code = sqlite3_shutdown();
  if (code == SQLITE_OK) code = sqlite3_config(SQLITE_CONFIG_MALLOC, methods);
  if (code == SQLITE_OK) code = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, lookaside, slots);
  return code == SQLITE_OK ? sqlite3_initialize() : code;
}

int faulty_allocator_install(void) {
  int code = sqlite3_shutdown();
  if (code == SQLITE_OK) code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &own);
  if (code != SQLITE_OK) return code;
  sqlite3_mem_methods faulty = own;
  faulty.xMalloc = allocate;
  faulty.xRealloc = reallocate;
  return restart(&faulty, 0, 0);
}

int faulty_allocator_remove(void) { return restart(&own, 1200, 40); }

void faulty_allocator_arm(long from, long count) {
  seen = 0;
  first = from;
  left = count;
}

long faulty_allocator_disarm(void) {
  first = 0;
  return seen;
}

long long faulty_allocator_used(void) { return sqlite3_memory_used(); }
