import Foundation
import SchemaPlatform
import Testing

@Suite("Reading and replacing files")
struct FileTests {
  let temporary: TemporaryFolder

  init() throws {
    temporary = try TemporaryFolder()
  }

  @Test("written bytes are read back, from none to more than a pipe's buffer")
  func roundTrip() throws {
    for size in [0, 1, 4095, 4096, 300_000] {
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try writeFileAtomically(bytes, to: temporary.path("file"))
      #expect(try readFile(temporary.path("file")) == bytes)
      #expect(try readFile(temporary.path("file"), limit: size) == bytes)
    }
    #expect(try temporary.names() == ["file"])
  }

  @Test("a file that reports no size is read completely, up to the limit")
  func sizeUnknown() throws {
    #expect(try readFile("/proc/self/status").count > 100)
    #expect(throws: FileError.self) { try readFile("/proc/self/status", limit: 10) }
  }

  @Test("a new file has the mode of the umask, and an old one keeps its mode")
  func mode() throws {
    let path = temporary.path("file")
    try writeFileAtomically([1], to: path)
    #expect(try mode(of: path) & 0o600 == 0o600)
    #expect(try mode(of: path) & 0o111 == 0)
    #expect(chmod(path, 0o640) == 0)
    try writeFileAtomically([2], to: path)
    #expect(try mode(of: path) == 0o640)
    #expect(try readFile(path) == [2])
  }

  @Test("a link remains, and its target is replaced")
  func link() throws {
    try temporary.write("target", "old")
    try FileManager.default.createSymbolicLink(
      atPath: temporary.path("link"), withDestinationPath: "target")
    try writeFileAtomically(Array("new".utf8), to: temporary.path("link"))
    #expect(try readFile(temporary.path("target")) == Array("new".utf8))
    #expect(throws: FileError.self) {
      try readFile(temporary.path("link"), followingLinks: false)
    }
  }

  @Test("a failed write leaves only the old file")
  func failure() throws {
    try FileManager.default.createDirectory(
      atPath: temporary.path("folder"), withIntermediateDirectories: false)
    let folder = try #require(error { try writeFileAtomically([1], to: temporary.path("folder")) })
    #expect(folder.systemError == EISDIR)
    let missing = try #require(
      error { try writeFileAtomically([1], to: temporary.path("no/file")) })
    #expect(missing.isMissing)
    #expect(missing.path == temporary.path("no/file"))
    #expect(try temporary.names() == ["folder"])
  }

  @Test("a path with NUL is invalid")
  func nul() throws {
    try temporary.write("file", "")
    #expect(throws: FileError.self) { try readFile(temporary.path("file\0more")) }
  }

  @Test("errors contain the message and the kind")
  func kinds() throws {
    let missing = try #require(error { _ = try readFile(temporary.path("missing")) })
    #expect(missing.description == "\(temporary.path("missing")): No such file or directory")
    #expect(missing.isMissing)
    #expect(try #require(error { _ = try readFile(temporary.path) }).systemError == EISDIR)
  }

  @Test("errors of the system have advice, also with a message of their own")
  func advice() {
    let full = FileError(path: "f", systemError: ENOSPC, message: "cannot sync its folder")
    #expect(full.remedy == "Free disk space, and run the command again")
    let closed = FileError(path: "f", systemError: EACCES, message: "cannot sync its folder")
    #expect(closed.remedy == "Check the permissions of the file and of its folder")
    #expect(FileError.notAFile("f").remedy == nil)
  }

  private func error(_ body: () throws -> Void) -> FileError? {
    do {
      try body()
      return nil
    } catch {
      return error as? FileError
    }
  }

  private func mode(of path: String) throws -> mode_t {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return status.st_mode & 0o7777
  }
}
