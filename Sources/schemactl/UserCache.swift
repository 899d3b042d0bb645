import History
import Migrating

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension ReplayCache {
  /// In the user's folder for such things; nil where there is none, and with `SCHEMACTL_CACHE=off`, or
  /// another word for no.
  static var ofUser: ReplayCache? {
    let isOff = ["off", "0", "no", "false"].contains(Environment["SCHEMACTL_CACHE"]?.lowercased())
    guard !isOff, let folder, let build = programIdentity else { return nil }
    return ReplayCache(folder: folder + "/schemactl", build: build)
  }

  /// What is relative there is to be ignored (XDG Base Directory Specification).
  private static var folder: String? {
    if let cache = path("XDG_CACHE_HOME") { return cache }
    guard let home = path("HOME") else { return nil }
    #if canImport(Darwin)
      return home + "/Library/Caches"
    #else
      return home + "/.cache"
    #endif
  }

  private static func path(_ variable: String) -> String? {
    let path = getenv(variable).flatMap { String(validatingCString: $0) }
    return path?.hasPrefix("/") ?? false ? path : nil
  }

  /// The version, and the size and the age of the program's file: while it is developed, one version
  /// is many programs.
  private static var programIdentity: String? {
    var status = stat()
    guard let programFile, stat(programFile, &status) == 0 else { return nil }
    let time = status.modified
    return "\(ToolVersion.current) \(status.st_size) \(time.tv_sec).\(time.tv_nsec)"
  }

  private static var programFile: String? {
    #if canImport(Darwin)
      var size: UInt32 = 0
      _ = _NSGetExecutablePath(nil, &size)
      var path = [CChar](repeating: 0, count: Int(size))
      guard _NSGetExecutablePath(&path, &size) == 0 else { return nil }
      return String(decoding: path.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    #else
      return "/proc/self/exe"
    #endif
  }
}
