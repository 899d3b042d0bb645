extension Parser {
  /// Parses the rest of CREATE [TEMP] TABLE.
  mutating func table(isTemporary: Bool) throws(SyntaxError) -> CreateTable {
    let header = try header(isTemporary: isTemporary)
    var columns: [CreateTable.Column] = []
    var constraints: [CreateTable.Constraint] = []
    var options = (isStrict: false, isWithoutRowid: false)
    if take("AS") {
      _ = try select()
    } else {
      try expect("(")
      columns = try tableColumns()
      constraints = try tableConstraints()
      try expect(")")
      options = try tableOptions()
    }
    return CreateTable(
      header: header, columns: columns, constraints: constraints, isStrict: options.isStrict,
      isWithoutRowid: options.isWithoutRowid)
  }

  private mutating func tableColumns() throws(SyntaxError) -> [CreateTable.Column] {
    var columns = [try column()]
    while take(",") {
      if isAtTableConstraint { return columns }
      columns.append(try column())
    }
    guard at(")") else { throw SyntaxError() }
    return columns
  }

  /// SQLite allows omitting the comma between two table constraints.
  private mutating func tableConstraints() throws(SyntaxError) -> [CreateTable.Constraint] {
    var constraints: [CreateTable.Constraint] = []
    while isAtTableConstraint {
      constraints.append(try tableConstraint())
      if take(","), !isAtTableConstraint { throw SyntaxError() }
    }
    return constraints
  }

  private var isAtTableConstraint: Bool {
    ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains { at($0) }
  }

  private mutating func tableOptions() throws(SyntaxError) -> (
    isStrict: Bool, isWithoutRowid: Bool
  ) {
    var options = (isStrict: false, isWithoutRowid: false)
    var isFirst = true
    while !isAtEnd {
      guard take(",") || isFirst else { throw SyntaxError() }
      isFirst = false
      if take("STRICT") {
        options.isStrict = true
      } else if take("WITHOUT") {
        try expect("ROWID")
        options.isWithoutRowid = true
      } else {
        throw SyntaxError()
      }
    }
    return options
  }
}

// MARK: Columns

extension Parser {
  private mutating func column() throws(SyntaxError) -> CreateTable.Column {
    let start = position
    let name = try name()
    let type = try typeName()
    var constraints: [CreateTable.ColumnConstraint] = []
    while let constraint = try columnConstraint() { constraints.append(constraint) }
    return CreateTable.Column(
      name: name, type: type, constraints: constraints, range: range(from: start))
  }

  /// SQLite reads GENERATED ALWAYS as part of the type and then removes it, even if no AS follows.
  /// GENERATED alone remains.
  private mutating func typeName() throws(SyntaxError) -> CreateTable.TypeName? {
    let start = position
    while isAtTypeWord { position += 1 }
    var end = position
    if end > start, take("(") {
      try signedNumber()
      if take(",") { try signedNumber() }
      try expect(")")
      end = position
    } else if end - start >= 2, matches(end - 2, "GENERATED"), matches(end - 1, "ALWAYS") {
      end -= 2
      // Before AS, the words belong to the constraint.
      if at("AS") { position = end }
    }
    guard end > start else { return nil }
    let range = range(of: start..<end)
    let isQuoted = tokens[start].kind != .word
    return CreateTable.TypeName(
      text: isQuoted ? Quoting.unquoted(sql.text(tokens[start])) : sql.text(range), range: range)
  }

  private var isAtTypeWord: Bool {
    name(at: position) != nil && !isWord(position, of: Keywords.joins) && !at("INDEXED")
  }

  private mutating func signedNumber() throws(SyntaxError) {
    if at("+") || at("-") { position += 1 }
    guard position < tokens.count, [.integer, .real].contains(tokens[position].kind) else {
      throw SyntaxError()
    }
    position += 1
  }

  /// The next constraint; nil if none begins here.
  private mutating func columnConstraint() throws(SyntaxError) -> CreateTable.ColumnConstraint? {
    let start = position
    let name = try constraintName()
    guard let kind = try columnConstraintKind() ?? (name == nil ? nil : .nameOnly) else {
      return nil
    }
    return CreateTable.ColumnConstraint(name: name, kind: kind, range: range(from: start))
  }

  private mutating func constraintName() throws(SyntaxError) -> Name? {
    guard take("CONSTRAINT") else { return nil }
    return try name()
  }

  private mutating func columnConstraintKind() throws(SyntaxError)
    -> CreateTable.ColumnConstraint.Kind?
  {
    if take("PRIMARY") { return .primaryKey(try columnPrimaryKey()) }
    if let isDeferred = try deferral() { return .deferral(isDeferred: isDeferred) }
    if take("NOT") {
      try expect("NULL")
      return .notNull(onConflict: try onConflict())
    }
    if take("NULL") { return .null(onConflict: try onConflict()) }
    if take("UNIQUE") { return .unique(onConflict: try onConflict()) }
    if take("CHECK") { return .check(try parenthesized()) }
    if take("DEFAULT") { return .default(try defaultValue()) }
    if take("COLLATE") { return .collate(try collation()) }
    if at("REFERENCES") { return .references(try reference()) }
    if take("GENERATED") {
      try expect("ALWAYS")
      try expect("AS")
      return .generated(try generated())
    }
    if take("AS") { return .generated(try generated()) }
    return nil
  }

  private mutating func columnPrimaryKey() throws(SyntaxError) -> CreateTable.PrimaryKey {
    try expect("KEY")
    let order: SortOrder? = take("ASC") ? .ascending : take("DESC") ? .descending : nil
    return CreateTable.PrimaryKey(
      order: order, onConflict: try onConflict(), isAutoincrement: take("AUTOINCREMENT"))
  }

  private mutating func collation() throws(SyntaxError) -> Name {
    guard isAtTypeWord else { throw SyntaxError() }
    return try name()
  }

  private mutating func defaultValue() throws(SyntaxError) -> Expression {
    if at("(") { return try parenthesized() }
    let start = position
    let isSigned = take("+") || take("-")
    guard position < tokens.count, isLiteral || (!isSigned && isAtTypeWord) else {
      throw SyntaxError()
    }
    position += 1
    let range = range(from: start)
    return Expression(range: range, outerRange: range)
  }

  private var isLiteral: Bool {
    switch tokens[position].kind {
    case .string, .blob, .integer, .real: true
    default:
      at("NULL") || at("CURRENT_TIMESTAMP") || at("CURRENT_DATE") || at("CURRENT_TIME")
    }
  }

  private mutating func generated() throws(SyntaxError) -> CreateTable.Generated {
    let expression = try parenthesized()
    let isStored = take("STORED")
    if !isStored { _ = take("VIRTUAL") }
    return CreateTable.Generated(expression: expression, isStored: isStored)
  }
}

// MARK: Table constraints

extension Parser {
  private mutating func tableConstraint() throws(SyntaxError) -> CreateTable.Constraint {
    let start = position
    let name = try constraintName()
    let kind = try tableConstraintKind()
    return CreateTable.Constraint(name: name, kind: kind, range: range(from: start))
  }

  private mutating func tableConstraintKind() throws(SyntaxError) -> CreateTable.Constraint.Kind {
    if take("PRIMARY") {
      try expect("KEY")
      return try tablePrimaryKey()
    }
    if take("UNIQUE") { return .unique(try indexedTerms(), onConflict: try onConflict()) }
    if take("CHECK") { return .check(try parenthesized(), onConflict: try onConflict()) }
    guard take("FOREIGN") else { return .nameOnly }
    try expect("KEY")
    guard at("(") else { throw SyntaxError() }
    return .foreignKey(try optionalNames(), try reference())
  }

  /// AUTOINCREMENT is inside the parentheses, after the last term.
  private mutating func tablePrimaryKey() throws(SyntaxError) -> CreateTable.Constraint.Kind {
    var items = try items()
    var isAutoincrement = false
    if let last = items.last, matches(last.upperBound - 1, "AUTOINCREMENT") {
      isAutoincrement = true
      items[items.count - 1] = last.lowerBound..<max(last.lowerBound, last.upperBound - 1)
    }
    let terms = try indexedTerms(items)
    return .primaryKey(terms, isAutoincrement: isAutoincrement, onConflict: try onConflict())
  }
}

// MARK: Shared clauses

extension Parser {
  private mutating func onConflict() throws(SyntaxError) -> CreateTable.ConflictAction? {
    guard take("ON") else { return nil }
    try expect("CONFLICT")
    for action in CreateTable.ConflictAction.allCases where take(action.rawValue) { return action }
    throw SyntaxError()
  }

  private mutating func reference() throws(SyntaxError) -> CreateTable.Reference {
    let start = position
    try expect("REFERENCES")
    var reference = CreateTable.Reference(
      table: try name(), columns: try optionalNames(),
      range: range(from: start))
    while true {
      if take("MATCH") {
        _ = try name()
      } else if take("ON") {
        try action(of: &reference)
      } else {
        break
      }
    }
    reference.isDeferred = try deferral() ?? false
    reference.range = range(from: start)
    return reference
  }

  private mutating func action(of reference: inout CreateTable.Reference) throws(SyntaxError) {
    if take("DELETE") {
      reference.onDelete = try foreignKeyAction()
    } else if take("UPDATE") {
      reference.onUpdate = try foreignKeyAction()
    } else if take("INSERT") {
      // The grammar allows this clause, but it has no effect.
      _ = try foreignKeyAction()
    } else {
      throw SyntaxError()
    }
  }

  private mutating func foreignKeyAction() throws(SyntaxError) -> CreateTable.ForeignKeyAction {
    if take("CASCADE") { return .cascade }
    if take("RESTRICT") { return .restrict }
    if take("SET") {
      if take("NULL") { return .setNull }
      if take("DEFAULT") { return .setDefault }
      throw SyntaxError()
    }
    if take("NO") {
      try expect("ACTION")
      return .noAction
    }
    throw SyntaxError()
  }

  /// Whether the next clause defers a foreign key to COMMIT; nil if the next clause is not about deferral.
  private mutating func deferral() throws(SyntaxError) -> Bool? {
    let isNegated = at("NOT") && matches(position + 1, "DEFERRABLE")
    if isNegated { position += 1 }
    guard take("DEFERRABLE") else { return nil }
    guard take("INITIALLY") else { return false }
    if take("DEFERRED") { return !isNegated }
    try expect("IMMEDIATE")
    return false
  }
}
