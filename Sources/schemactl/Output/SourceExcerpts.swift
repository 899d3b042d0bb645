import SchemaPlatform
import SchemaSQLText

/// The lines of source files that diagnostics point at, each with a caret below.
struct SourceExcerpts {
  /// Larger files are not shown.
  private static let sizeLimit = 8 * 1_048_576
  /// A longer line is cut, with the caret still in view.
  private static let width = 120

  private var files: [ExactText: [Substring]] = [:]

  /// Nothing where the file cannot be read.
  mutating func lines(_ file: String, line: Int, column: Int) -> [String] {
    if files[file] == nil {
      let bytes = (try? readFile(file, limit: Self.sizeLimit)) ?? []
      files[file] = String(decoding: bytes, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false)
    }
    guard let source = files[file], source.indices.contains(line - 1) else { return [] }
    // Columns count Unicode scalars, and a tab takes one place.
    let scalars = source[line - 1].unicodeScalars.map { $0 == "\t" ? " " : $0 }
    let start = column > Self.width ? column - Self.width / 2 : 0
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars.dropFirst(start).prefix(Self.width).filter { $0 != "\r" })
    guard text.contains(where: { $0 != " " }) else { return [] }
    let number = "\(line)"
    let margin = String(repeating: " ", count: number.count)
    let caret = String(repeating: " ", count: max(0, column - 1 - start)) + "^"
    return ["  \(number) | \(String(text).visible)", "  \(margin) | \(caret)"]
  }
}
