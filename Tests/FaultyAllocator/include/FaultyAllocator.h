#pragma once
// SQLite's allocator, made to fail when it is told to. One thread at a time.

/// Puts it in place; no connection may be open. Returns a code of SQLite.
int faulty_allocator_install(void);
/// Puts SQLite's own allocator back.
int faulty_allocator_remove(void);
/// Counts allocations from now on, and lets `count` of them fail from the `first`, counted from 1;
/// `first` 0: none.
void faulty_allocator_arm(long first, long count);
/// Lets none fail any more. Returns how many there were.
long faulty_allocator_disarm(void);
/// Bytes that SQLite holds.
long long faulty_allocator_used(void);
