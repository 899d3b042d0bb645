#pragma once

// A VFS, "schemactl-reader", over the default one: to a connection with "pages=N" in its URI a
// database has N pages, whatever its header says.
//
// A transaction's pages may be in the file before it is committed (sqlite3_db_cacheflush), all but the
// first one, which holds their number (Database File Format, section 1.3.7).
//
// Returns an SQLite result code. May be called more than once, by any thread.
int schemactl_register_reader(void);
