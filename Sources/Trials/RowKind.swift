import SchemaSQLText

/// The purpose of a generated row.
enum RowKind: Hashable {
  /// Each value differs from all others of the database.
  case marked(Int)
  /// NULL in every column that accepts it.
  case nulls
  /// NULL in half of the columns that accept it, in a different pattern for each row. For any two
  /// of twenty adjacent columns, one row has NULL only in the first column and one row only in the
  /// second.
  case sparse(Int)
  /// A copy of an earlier row, except for the columns in which rows must differ. Texts in these
  /// columns, except in the primary key, differ only in case.
  case twin
  /// A copy of an earlier row whose unique texts end in a space.
  case padded
  /// A row whose text key is the key of an earlier row in capitals.
  case otherCase
  /// A row whose text key is the key of an earlier row and a space.
  case otherSpace
  /// A row whose text key is 7 after this number of zeros.
  case digits(Int)
  /// A copy of an earlier row in which only the first or the last column of each key differs.
  ///
  /// - Parameter literal: the index of the column's value among its literals in the step; nil for a mark.
  case crossed(isFirst: Bool, literal: Int? = nil)
  /// The values of an earlier row in the columns by which the step groups rows, or that become a key.
  case grouped
  /// 0 and 1, in a different pattern for each column.
  case bits(Int)
  /// Values near the column's name in the step.
  case literals(Int)
  /// Values with which the step compares the columns, NULL and marks, in a different combination for
  /// each row.
  case combined(Int)
  /// Marks with a time in each text, for a step that parses dates.
  case dates(Int)
  /// Marks of another type than that of their column, for a step that reads types. It only shows
  /// whether the row remains: the step may convert such values on purpose.
  case otherTypes
  /// Marks in the JSON objects or lists that the step reads.
  case members(Int)
  /// The most likely values, which repeat; NULL in the first row.
  case likely(Int)
  /// A row that the table had before the filler ran.
  case seeded
}

extension RowKind {
  /// The row to which no other row refers. If only a join connects its table with others, it has no
  /// parent, either.
  static let childless = RowKind.marked(3)

  /// Whether the row has the most likely values.
  var isLikely: Bool { if case .likely = self { true } else { false } }

  /// Whether the row has values that occur near the names of their columns in the step.
  var isNamed: Bool { if case .literals = self { true } else { false } }

  /// Whether rows of this kind may refer to no parent.
  var hasNulls: Bool {
    switch self {
    case .nulls, .likely(0), .sparse: true
    default: false
    }
  }

  /// The numbers of the sparse rows in which a column is NULL. No pattern contains another one.
  private static let sparsePatterns = (0..<RowFiller.sparseRows).flatMap { a in
    ((a + 1)..<RowFiller.sparseRows).flatMap { b in
      ((b + 1)..<RowFiller.sparseRows).map { [a, b, $0] }
    }
  }

  /// Whether a sparse row has NULL in the table's column at this place, from 0.
  func isNull(at place: Int) -> Bool {
    guard case .sparse(let number) = self else { return false }
    // In most pairs of adjacent columns, some rows have NULL in both and others in only one.
    return Self.sparsePatterns[place * 9 % Self.sparsePatterns.count].contains(number)
  }

  /// Whether the row's key is similar to that of another one.
  var hasSimilarTextKey: Bool { key(similarTo: "") != nil }

  func key(similarTo key: String) -> String? {
    switch self {
    case .otherCase: key.uppercased()
    case .otherSpace: key + " "
    case .digits(let zeros): String(repeating: "0", count: zeros) + "7"
    default: nil
    }
  }

  var isMarked: Bool {
    switch self {
    case .marked, .dates: true
    default: false
    }
  }

  /// Whether a row of this kind is useful in a table without a column that gives the kind its meaning.
  /// Some rows refer to different parents.
  func isUseful(withParents hasParents: Bool) -> Bool {
    switch self {
    case .marked, .dates, .likely, .members, .otherTypes: true
    case .bits, .nulls: hasParents
    default: false
    }
  }
}

extension RowFiller {
  /// Kinds of rows that a migration mostly accepts together.
  static let groups: [[RowKind]] = [
    (0..<4).map(RowKind.marked), (0..<10).map(RowKind.literals), [.nulls], [.twin],
    (0..<sparseRows).map(RowKind.sparse), (0..<3).map(RowKind.bits), [.padded] + kindsOfKeys,
    [.grouped]
      + [true, false].flatMap { isFirst in
        (0..<2).map { .crossed(isFirst: isFirst, literal: $0) }
      },
  ]
  static let allKinds = groups.flatMap { $0 }
  static let sparseRows = 6

  /// Rows for a step that compares this number of columns with values.
  static func combinedKinds(_ columns: Int) -> [RowKind] {
    (0..<(columns == 0 ? 0 : 16)).map(RowKind.combined)
  }

  /// Rows for a step that parses dates.
  static let dateKinds = (0..<4).map(RowKind.dates)

  /// Rows for a step that reads JSON.
  static let memberKinds = (0..<3).map(RowKind.members)

  /// Rows that resemble the rows of an app.
  static let likelyKinds =
    (0..<6).map(RowKind.likely) + [.twin] + (0..<sparseRows).map(RowKind.sparse) + kindsOfKeys

  /// Whether all rows resemble the rows of an app.
  var isLikely: Bool { kinds.starts(with: Self.likelyKinds) }

  /// Rows whose keys would be equal if the keys had fewer columns or another collation.
  static let kindsOfKeys: [RowKind] = [
    .otherCase, .otherSpace, .digits(0), .digits(1), .crossed(isFirst: true),
    .crossed(isFirst: false),
  ]
}
