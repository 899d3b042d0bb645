import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// The output of `sqlmigrate` or of the script in docs/from/django.md, one file for each migration:
/// `app.0001_initial.sql`, `app/0001_initial.sql`, or `0001_initial.sql` in a folder that is named after the
/// app. `plan.txt` lists the migrations in order. It may be the output of `showmigrations --plan`.
enum Django: ForeignFormat {
  private static let marks = ["Create model ", "Add field ", "Alter field ", "Remove field "]

  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool {
    try source.holdsRemark { remark in marks.contains { remark.hasPrefix($0) } }
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    var found: [(app: String, name: String, path: String)] = []
    for path in reader.source.scripts {
      guard let name = stem(fileName(path), without: ".sql") else { continue }
      if let dot = name.firstIndex(of: ".") {
        found.append((String(name[..<dot]), String(name[name.index(after: dot)...]), path))
      } else if leadingNumber(name) != nil {
        let folder = folderName(path)
        found.append((fileName(folder.isEmpty ? reader.source.folder : folder), name, path))
      }
    }
    let plan = try plan(reader.source)
    let places = Dictionary(
      plan.enumerated().map { ($1.exact, $0) }, uniquingKeysWith: { first, _ in first })
    found.sort { a, b in
      let (first, second) = (places[a.app + "." + a.name], places[b.app + "." + b.name])
      if let first, let second { return first < second }
      return (first == nil ? 1 : 0, a.name, a.app) < (second == nil ? 1 : 0, b.name, b.app)
    }
    let names = Set(found.map { ($0.app + "." + $0.name).exact })
    for entry in plan where !names.contains(entry) {
      reader.problem(
        "plan.txt", nil,
        "`\(entry)` has no file: write it with the script in `docs/from/django.md`")
    }
    let isOneApp = Set(found.map(\.app.exact)).count == 1
    for (app, name, path) in found {
      let file = try placingColumns(reader.file(path))
      if file.sql.tokens.isEmpty {
        reader.note(
          path, kind: .file,
          "the file is empty: the migration has no operations, or its export failed")
      }
      reader.noteCode(path, file, file.whole)
      let (number, rest) = leadingNumber(name) ?? ("", name)
      reader.add(
        number: isOneApp ? number : "", name: isOneApp ? rest : "\(app)_\(name)", path,
        UpPart(file, file.whole, of: reader.tool),
        ReplacedEntries("django_migrations", .django, "\(app).\(name)"))
    }
  }

  /// Returns the file with the columns of rebuilt tables in the order of `migrate`, where a field that is
  /// added, altered or renamed comes last. `sqlmigrate` writes it first.
  private static func placingColumns(_ file: ForeignFile) throws(Failure) -> ForeignFile {
    var bytes = file.sql.bytes
    let remarks = file.remarks
    for statement in file.statements(in: file.whole).reversed() {
      let text = file.sql.text(statement.range)
      guard text.hasPrefix("CREATE TABLE \"new__") else { continue }
      let remark = remarks.last {
        $0.range.upperBound <= statement.range.lowerBound && !$0.text.isEmpty
      }
      let words = (remark?.text ?? "").split(separator: " ").map(String.init)
      guard words.count > 2, ["Add", "Alter", "Rename"].contains(words[0]), words[1] == "field"
      else { continue }
      // An example: `Rename field page_revision on taskstate to revision`
      let field = words[0] == "Rename" ? words[words.count - 1] : words[2]
      let tokens = TokenizedSQL(String(text.dropLast(text.hasSuffix(";") ? 1 : 0)))
      guard case .createTable(let table)? = try? parseCreate(tokens),
        let place = table.columns.firstIndex(where: { column in
          column.name.isSame(as: field) || column.name.isSame(as: field + "_id")
        })
      else { continue }
      var columns = table.columns.map { tokens.text($0.range) }
      columns.append(columns.remove(at: place))
      guard let first = table.columns.first?.range, let last = table.columns.last?.range else {
        continue
      }
      let start = statement.range.lowerBound
      bytes.replaceSubrange(
        start + first.lowerBound..<start + last.upperBound,
        with: Array(columns.joined(separator: ", ").utf8))
    }
    return try ForeignFile(file.path, bytes: bytes)
  }

  /// Reads `plan.txt`. A line is `[X]  app.0001_initial`, where the mark in brackets is optional.
  private static func plan(_ source: SourceFiles) throws(Failure) -> [String] {
    guard source.has("plan.txt") else { return [] }
    return String(decoding: try source.bytes("plan.txt"), as: UTF8.self)
      .split(whereSeparator: \.isNewline)
      .compactMap { line in
        line.split(separator: " ").map(String.init).first { $0.contains(".") }
      }
  }
}
