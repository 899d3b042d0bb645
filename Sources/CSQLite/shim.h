#pragma once
// Swift imports neither variadic functions nor macros that are expressions: these give them a plain face.
#include <sqlite3.h>

static inline int schemactl_db_config(sqlite3 *db, int option, int value, int *now) {
  return sqlite3_db_config(db, option, value, now);
}

static inline sqlite3_destructor_type schemactl_transient(void) { return SQLITE_TRANSIENT; }

static inline sqlite3_destructor_type schemactl_static(void) { return SQLITE_STATIC; }
