import SchemaPlatform
import SchemaSQLText

/// Source lines for diagnostics, each with a caret below.
struct SourceExcerpts {
  /// Larger files are not shown.
  private static let sizeLimit = 8 * 1_048_576
  /// Longer lines are truncated around the caret.
  private static let width = 120

  private var files: [ExactText: [Substring]] = [:]

  /// Empty if the file cannot be read.
  mutating func lines(_ file: String, line: Int, column: Int) -> [String] {
    if files[file] == nil {
      let bytes = (try? readFile(file, limit: Self.sizeLimit)) ?? []
      files[file] = String(decoding: bytes, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false)
    }
    guard let source = files[file], source.indices.contains(line - 1) else { return [] }
    // Columns count Unicode scalars. A tab counts as one column.
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
