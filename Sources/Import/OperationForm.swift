import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaYAML

extension ManifestBody {
  /// Writes operations for the statements that an operation can express, and SQL for all others. The later
  /// comparison checks that they create the same schema.
  init(operationsOf step: ForeignStep) throws(Failure) {
    let file = try ForeignFile(step.path, bytes: Array(step.sql.utf8))
    var operations: [WrittenOperation] = []
    var start = 0
    for statement in file.statements(in: file.whole) {
      guard let operation = file.operation(statement) else { continue }
      Self.append(file, start..<statement.range.lowerBound, to: &operations)
      operations.append(operation)
      start = statement.range.upperBound
    }
    Self.append(file, start..<file.whole.upperBound, to: &operations)
    self.init(operations)
  }

  private static func append(
    _ file: ForeignFile, _ range: Range<Int>, to operations: inout [WrittenOperation]
  ) {
    guard !file.sql.significant(in: range).isEmpty else { return }
    operations.append(WrittenOperation(sql: file.sql.text(range).trimmed))
  }
}

extension ForeignFile {
  /// Returns the statement as an operation; nil if no operation expresses it.
  fileprivate func operation(_ statement: ForeignStatement) -> WrittenOperation? {
    var words = statement.words[...]
    if words.last.map(sql.text) == ";" { words.removeLast() }
    guard let first = words.first, let last = words.last else { return nil }
    let text = sql.text(first.range.lowerBound..<last.range.upperBound)
    switch sql.text(first).identifier {
    case "CREATE": return creation(text)
    case "DROP": return drop(Array(words))
    case "ALTER": return alteration(Array(words))
    default: return nil
    }
  }

  private func creation(_ text: String) -> WrittenOperation? {
    guard let statement = try? parseCreate(TokenizedSQL(text)) else { return nil }
    let (kind, table): (SchemaObject.Kind, Name) =
      switch statement {
      case .createTable(let table): (.table, table.name)
      case .createVirtualTable(let table): (.table, table.name)
      case .createIndex(let index): (.index, index.table)
      case .createView(let view): (.view, view.name)
      case .createTrigger(let trigger): (.trigger, trigger.table.name)
      }
    guard statement.schema == nil, !statement.ifNotExists, !statement.isTemporary else {
      return nil
    }
    let operation = SchemaObject(
      kind: kind, name: statement.name.text, table: table.text, sql: text
    ).operation
    return operation == WrittenOperation(sql: text) ? nil : operation
  }

  /// Returns the operation for DROP TABLE, INDEX, VIEW or TRIGGER without IF EXISTS and without a schema
  /// name.
  private func drop(_ words: [Token]) -> WrittenOperation? {
    guard words.count == 3, isName(words[2]) else { return nil }
    let name = yamlScalar(Quoting.unquoted(sql.text(words[2])))
    return switch sql.text(words[1]).identifier {
    case "TABLE": WrittenOperation("drop_table", [("table", name)])
    case "INDEX": WrittenOperation("drop_index", [("name", name)])
    case "VIEW": WrittenOperation("drop_view", [("name", name)])
    case "TRIGGER": WrittenOperation("drop_trigger", [("name", name)])
    default: nil
    }
  }

  private func alteration(_ words: [Token]) -> WrittenOperation? {
    guard words.count > 4, sql.text(words[1]).identifier == "TABLE", isName(words[2]) else {
      return nil
    }
    let table = ("table", yamlScalar(Quoting.unquoted(sql.text(words[2]))))
    func name(_ index: Int) -> String { yamlScalar(Quoting.unquoted(sql.text(words[index]))) }
    func isWord(_ index: Int, _ word: Identifier) -> Bool {
      words.indices.contains(index) && sql.text(words[index]).identifier == word
    }
    switch sql.text(words[3]).identifier {
    case "RENAME" where isWord(4, "TO") && words.count == 6:
      return WrittenOperation("rename_table", [table, ("to", name(5))])
    case "RENAME":
      let old = isWord(4, "COLUMN") ? 5 : 4
      guard isWord(old + 1, "TO"), words.count == old + 3 else { return nil }
      return WrittenOperation(
        "rename_column", [table, ("from", name(old)), ("to", name(old + 2))])
    case "DROP":
      let column = isWord(4, "COLUMN") ? 5 : 4
      guard words.count == column + 1 else { return nil }
      return WrittenOperation("drop_column", [table, ("column", name(column))])
    case "ADD":
      let column = isWord(4, "COLUMN") ? 5 : 4
      guard words.indices.contains(column), let last = words.last else { return nil }
      let text = sql.text(words[column].range.lowerBound..<last.range.upperBound)
      let tokens = TokenizedSQL("CREATE TABLE t (\(text)\n)")
      guard case .createTable(let parsed)? = try? parseCreate(tokens), parsed.columns.count == 1,
        parsed.constraints.isEmpty
      else { return nil }
      return WrittenOperation(
        "add_column", [table, ("column", parsed.columns[0].mapping(tokens))])
    default: return nil
    }
  }

  private func isName(_ word: Token) -> Bool {
    [.word, .quotedIdentifier, .string].contains(word.kind)
  }
}
