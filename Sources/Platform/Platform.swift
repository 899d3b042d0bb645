/// The operating system: files, processes, the clock. Only this module imports the C library.
///
/// - ``readFile(_:limit:followingLinks:)``, ``folderNames(_:)``: reading within limits.
/// - ``writeFileAtomically(_:to:)``, ``TemporaryFile``: files that appear either completely or not at
///   all.
/// - ``Subprocess``: another program, with its output and errors.
/// - ``BlockedSignals``: signals for which a thread waits.
/// - ``Timestamp``: the time in UTC.
/// - ``FileError``: the path, the system's error code and its message.

#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#else
  @_exported public import Darwin
#endif

/// The environment variables of the process.
package enum Environment {
  package static subscript(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
