/// The operating system: the one import of the C library, files, processes, the clock.
///
/// - ``readFile(_:limit:followingLinks:)``, ``folderNames(_:)``: reading within limits.
/// - ``writeFileAtomically(_:to:mode:)``, ``TemporaryFile``: files that appear complete or not at all.
/// - ``Subprocess``: another program, with its output and errors.
/// - ``Timestamp``: the time in UTC.
/// - ``FileError``: the path, the code of the system, and what to do.

#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#else
  @_exported public import Darwin
#endif
