import SchemaHistory
import SchemaPlatform
import SchemaSQLText

extension Settings {
  /// Writes a file that an option or the configuration names.
  ///
  /// - Throws: a failure (64) for `-`, and when it would replace a database, `schemactl.yaml` or a file of the history.
  func write(_ bytes: [UInt8], toOutput path: String) throws(Failure) {
    if path == "-" {
      throw Failure(
        .usage, "`-` is not the name of a file", remedy: "`./-` names a file that is called `-`")
    }
    if let owner = owner(ofOutput: (try? resolvedPath(path)) ?? path) {
      throw Failure(
        .usage, "\(path) is \(owner), which the output would replace. Nothing was changed",
        remedy: "Name another file")
    }
    do throws(FileError) {
      try writeFileAtomically(bytes, to: path)
    } catch {
      throw Failure(error)
    }
  }

  private func owner(ofOutput path: String) -> String? {
    func isSame(_ a: String, _ b: String) -> Bool {
      FileStatus(a).flatMap { a in FileStatus(b).map(a.isSameFile) } ?? false
    }
    if DatabaseFile.isDatabase(path) { return "an SQLite database" }
    if isSame(parentFolder(of: path), migrations) { return "a file of the history" }
    return file.map { isSame(path, $0) } ?? false ? "the configuration" : nil
  }
}
