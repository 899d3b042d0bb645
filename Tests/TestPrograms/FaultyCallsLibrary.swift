import Foundation

/// The library that makes system calls fail. `LD_PRELOAD` loads it into the built program before
/// the C library. It is compiled on first use, because the package does not publish targets for
/// tests.
package let faultyCallsLibrary: Result<String, any Error> = Result {
  let library = programs.appendingPathComponent("libFaultyCalls.so")
  let source = repository.appendingPathComponent("Tests/FaultyCalls/FaultyCalls.c")
  if try library.modificationDate ?? .distantPast > source.modificationDate ?? .distantFuture {
    return library.path
  }
  // Another process may load it during the write.
  let new = library.path + ".\(getpid())"
  let compiled = try run(
    "/usr/bin/env", ["cc", "-shared", "-fPIC", "-O1", "-o", new, source.path, "-ldl"])
  guard compiled.code == 0 else { throw CompilationFailure(output: compiled.errors) }
  guard rename(new, library.path) == 0 else {
    throw CompilationFailure(output: String(cString: strerror(errno)))
  }
  return library.path
}

private struct CompilationFailure: Error {
  let output: String
}

extension URL {
  fileprivate var modificationDate: Date? {
    get throws {
      guard FileManager.default.fileExists(atPath: path) else { return nil }
      return try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    }
  }
}
