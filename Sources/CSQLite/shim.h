#pragma once
// Swift imports neither variadic functions nor macros that are expressions: these give them a plain face.
#include <sqlite3.h>

static inline int schemactl_db_config(sqlite3 *db, int option, int value, int *now) {
  return sqlite3_db_config(db, option, value, now);
}

// Works through the connection's own descriptor: to open the file once more, and to close it, would
// end this process's locks on it (How To Corrupt An SQLite Database File, section 2.2).
static inline sqlite3_file *schemactl_file(sqlite3 *db) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return code == SQLITE_OK && file && file->pMethods ? file : 0;
}

static inline int schemactl_read_file(sqlite3 *db, void *buffer, int count, sqlite3_int64 offset) {
  sqlite3_file *file = schemactl_file(db);
  return file ? file->pMethods->xRead(file, buffer, count, offset) : SQLITE_IOERR;
}

// Takes SQLite's locks on a file that may not be a database, until the connection is closed.
static inline int schemactl_lock_file(sqlite3 *db) {
  sqlite3_file *file = schemactl_file(db);
  if (!file) return SQLITE_IOERR;
  int code = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
  if (code == SQLITE_OK) code = file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE);
  if (code != SQLITE_OK) file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
  return code;
}

static inline int schemactl_config_memstatus(int on) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on);
}

static inline sqlite3_destructor_type schemactl_transient(void) { return SQLITE_TRANSIENT; }

static inline sqlite3_destructor_type schemactl_static(void) { return SQLITE_STATIC; }
