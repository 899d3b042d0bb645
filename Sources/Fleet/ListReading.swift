import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// A source of database names.
package enum ListSource: Sendable, Hashable {
  /// A path, or a pattern of paths.
  case pattern(String)
  /// A file with one name in each line, or with a NUL after each name.
  case file(String)
  case standardInput
}

extension DatabaseList {
  /// - Parameter interruption: stops waiting for input.
  package func add(
    _ source: ListSource, interruption: Interruption = Interruption()
  ) throws(Failure) {
    switch source {
    case .pattern(let pattern): try add(matching: pattern)
    case .file(let path): try add(fromFile: path, interruption)
    case .standardInput: try add(fromFile: nil, interruption)
    }
  }

  private func add(matching pattern: String) throws(Failure) {
    guard PathPattern.isPattern(pattern) else { return try add(pattern) }
    let count = try addSorted { (note) throws(Failure) in
      try PathPattern(pattern).forEachMatch(note)
    }
    guard count > 0 else { throw Failure(.notFound, "no file matches \(pattern)") }
  }

  private func add(fromFile path: String?, _ interruption: Interruption) throws(Failure) {
    do {
      let limit = Int(PATH_MAX)
      var reader = try RecordReader(
        path, limit: limit, isCancelled: { interruption.isRequested })
      // No name is longer, so a list with NULs has one by then.
      let separator: UInt8 = try reader.contains(0, inNext: limit + 1) ? 0 : 10
      var line = 0
      while let (bytes, _) = try reader.next(endingWith: separator) {
        line += 1
        guard !bytes.isEmpty else { continue }
        guard let name = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
          throw Failure(
            .invalidInput,
            "\(reader.path): name \(line) is not UTF-8, or holds a NUL. Nothing was changed")
        }
        try add(name)
      }
    } catch {
      guard !interruption.isRequested else {
        throw Failure(.interrupted, "interrupted: nothing was changed")
      }
      throw Failure(ofList: error)
    }
  }
}
