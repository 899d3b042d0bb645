#pragma once
// A library for LD_PRELOAD: system calls of a whole program, made to fail. It is told what to do by
// the environment:
//
//   FAULTY_CALLS_FOLDER  only calls for paths under it are counted, and for files opened there
//   FAULTY_CALLS_FIRST   the call that fails, counted from 1; 0 or nothing: none
//   FAULTY_CALLS_LAST    the last call that fails
//   FAULTY_CALLS_ERRNO   the error
//   FAULTY_CALLS_NAME    only calls of this name are counted: link, pread64, …
//   FAULTY_CALLS_PATH    only calls for paths that hold this are counted
//   FAULTY_CALLS_KILL    the program is killed in place of the call
//   FAULTY_CALLS_NO_LINKS  as well, the file system has no hard links
//   FAULTY_CALLS_LOG     a file that gets the name and the path of each call, a line for each
