import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Test(
  "a relative path is a file, even if SQLite would interpret it differently",
  arguments: [":memory:", "file:x?mode=memory", "file::memory:", "a b%20c?#.sqlite", "ü"])
func literalPaths(name: String) throws {
  // Use a path relative to the working folder, since SQLite interprets an absolute path only as a
  // file.
  defer { try? FileManager.default.removeItem(atPath: name) }
  try Connection(path: name).execute("CREATE TABLE t(a)")
  #expect(FileManager.default.fileExists(atPath: name))
  #expect(
    try Connection(path: name, mode: .readOnly).rows("SELECT name FROM sqlite_schema") == [["t"]])
}

@Test("no path is a private database, which is deleted with its connection")
func privateDatabase() throws {
  let first = try Connection(path: nil)
  try first.execute("CREATE TABLE t(a)")
  #expect(first.path == ":memory:")
  #expect(try Connection(path: nil).rows("SELECT * FROM sqlite_schema").isEmpty)
}

@Test(
  "a missing file and a folder cannot be opened",
  arguments: ["", ".", "/", "no/such/folder", "nosuch"])
func unopenable(name: String) throws {
  let folder = try TemporaryFolder()
  for path in [name, name.isEmpty || name == "/" ? name : folder.path(name)] {
    let error = try databaseError { _ = try Connection(path: path, mode: .readWrite) }
    #expect(error.code == .cannotOpen)
    #expect(error.message == "unable to open database file")
    #expect(error.sql == nil && error.offset == nil)
  }
  #expect(try folder.names().isEmpty)
}

@Test("the system's error states why a file cannot be opened")
func systemError() throws {
  let folder = try TemporaryFolder()
  let missing = try databaseError {
    _ = try Connection(path: folder.path("nosuch"), mode: .readOnly)
  }
  #expect(missing.systemError == ENOENT)
  let connection = try Connection(path: folder.path("a"))
  try connection.execute("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES(1)")
  _ = try databaseError { try connection.execute("ATTACH '/no/such/folder/x' AS x") }
  let later = try databaseError { try connection.execute("INSERT INTO t VALUES(1)") }
  #expect(later.code == .constraint)
  #expect(later.systemError == 0, "an older error's is none of this one's")
}

@Test("a path with a NUL does not open the file named before the NUL")
func pathWithNUL() throws {
  let folder = try TemporaryFolder()
  let error = try databaseError { _ = try Connection(path: folder.path("a\0b")) }
  #expect(error.code == .cannotOpen)
  #expect(error.message == "the path of the database contains a NUL character")
  #expect(try folder.names().isEmpty)
}

@Test(
  "a file that is not a database is detected at the first read",
  arguments: [
    [UInt8]([0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF".utf8))
      + [UInt8](repeating: 7, count: 5000),
    Array("plain text, and enough of it to fill the hundred bytes of a database's header. ".utf8)
      + Array("One more sentence does it.".utf8),
  ])
func notADatabase(bytes: [UInt8]) throws {
  let folder = try TemporaryFolder()
  try folder.write("a", bytes)
  for mode in [Connection.Mode.readOnly, .readWrite, .readWriteCreate] {
    let connection = try Connection(path: folder.path("a"), mode: mode)
    let error = try databaseError { _ = try connection.rows("SELECT * FROM sqlite_schema") }
    #expect(error.code == .notADatabase)
    #expect(error.message == "file is not a database")
    #expect(try databaseError { _ = try connection.serialized() }.code == .notADatabase)
  }
  #expect(try Array(Data(contentsOf: URL(fileURLWithPath: folder.path("a")))) == bytes)
}

@Test("a read-only connection changes nothing")
func readOnlyMode() throws {
  let folder = try TemporaryFolder()
  try Connection(path: folder.path("a")).execute("CREATE TABLE t(a)")
  let connection = try Connection(path: folder.path("a"), mode: .readOnly)
  #expect(connection.isReadOnly)
  let error = try databaseError { try connection.execute("INSERT INTO t VALUES(1)") }
  #expect(error.code == .readOnly)
  #expect(error.message == "attempt to write a readonly database")
  #expect(try !Connection(path: folder.path("a")).isReadOnly)
}

@Test(
  "a file that only other users may write gets a read-only connection",
  .thorough,
  .enabled(if: getuid() != 0 || FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")))
func fileOfAnother() async throws {
  let folder = try TemporaryFolder()
  let path = folder.path("a")
  try Connection(path: path).execute("CREATE TABLE t(a)")
  chmod(folder.path, 0o755)
  chmod(path, 0o444)
  defer { chmod(path, 0o644) }
  if getuid() != 0 {
    #expect(try Connection(path: path, mode: .readWrite).isReadOnly)
    return
  }
  // Root may write every file, so another user has to open it in a separate process. The process
  // ends at once, because the address sanitizer cannot search for leaks after dropping privileges.
  await #expect(processExitsWith: .success) { [path = path as String] in
    guard setgid(65534) == 0, setuid(65534) == 0 else { _exit(2) }
    let connection = try Connection(path: path, mode: .readWrite)
    guard connection.isReadOnly else { _exit(3) }
    do {
      try connection.execute("INSERT INTO t VALUES(1)")
      _exit(4)
    } catch {
      _exit((error as? DatabaseError)?.code == .readOnly ? 0 : 5)
    }
  }
}

@Test("a connection allows no extensions, no trust in the schema and no edits of it")
func careful() throws {
  let connection = try Connection(path: nil)
  #expect(!connection.isOn(.loadExtension))
  #expect(!connection.isOn(.trustedSchema))
  #expect(!connection.isOn(.foreignKeys))
  #expect(!connection.isOn(.writableSchema))
  #expect(connection.isOn(.defensive))
  #expect(try connection.value("PRAGMA cell_size_check") == 1)
  let tokenizer = "SELECT fts3_tokenizer('simple', x'0000000000000000')"
  #expect(throws: DatabaseError.self) { try connection.execute(tokenizer) }
  let load = try databaseError { try connection.execute("SELECT load_extension('x')") }
  #expect(load.message == "not authorized")
  try connection.execute("PRAGMA writable_schema = ON")
  let edit = try databaseError { try connection.execute("DELETE FROM sqlite_schema") }
  #expect(edit.message == "table sqlite_master may not be modified")
}

@Test(
  "a schema that calls SQLite's JSON functions can be read and written, though untrusted")
func json() throws {
  let folder = try TemporaryFolder()
  let path = folder.path + "/json.sqlite"
  let sql = """
    CREATE TABLE t (
      doc TEXT CHECK (JSON_Valid(doc)), name TEXT AS (doc ->> 'name') STORED,
      more TEXT DEFAULT (json_array(1)));
    CREATE INDEX i ON t (json_extract(doc, '$.id'));
    CREATE TABLE u (doc CHECK (JSON_VALID(doc)));
    """
  let first = try Connection(path: path)
  first.set(.trustedSchema, to: true)
  try first.execute(sql)
  first.set(.trustedSchema, to: false)
  try first.execute("INSERT INTO t (doc) VALUES ('{\"name\": \"a\", \"id\": 1}')")
  let second = try Connection(path: path)
  #expect(!second.isOn(.trustedSchema))
  #expect(try second.rows("SELECT name, more FROM t") == [["a", "[1]"]])
  second.set(.trustedSchema, to: false)
  try second.execute("INSERT INTO t (doc) VALUES ('[]')")
  let refused = try databaseError { try second.execute("INSERT INTO u VALUES ('{')") }
  #expect(refused.code == .constraint)
}
