import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A value of one of SQLite's five storage classes.
public enum SQLValue: Sendable, Hashable {
  /// NULL.
  case null
  /// A signed integer of 64 bits.
  case integer(Int64)
  /// A floating point number of 64 bits.
  case real(Double)
  /// A text in UTF-8.
  case text(String)
  /// Bytes.
  case blob([UInt8])

  init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .integer(let integer): .integer(integer)
      case .real(let real): .real(real)
      case .text(let text): .text(text)
      case .blob(let bytes): .blob(bytes)
      }
  }

  var value: Value {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let text): .text(text)
    case .blob(let bytes): .blob(bytes)
    }
  }
}

/// An SQL function of the app, which its schema or its migrations call.
public struct AppFunction: Sendable {
  let definition: FunctionDefinition

  /// - Parameters:
  ///   - name: the name in SQL. ASCII letter case does not matter.
  ///   - arguments: the number of arguments, at most 127; -1 for any number.
  ///   - isDeterministic: whether equal arguments always give an equal result. Only then may an
  ///     index, a CHECK or a generated column call it.
  ///   - body: runs on the thread that migrates. An error that it throws fails the statement.
  public init(
    _ name: String, arguments: Int, isDeterministic: Bool = true,
    body: @escaping @Sendable ([SQLValue]) throws -> SQLValue
  ) {
    definition = FunctionDefinition(
      name: name, arguments: arguments, isDeterministic: isDeterministic,
      body: { try body($0.map(SQLValue.init)).value })
  }
}

/// A collation of the app: an order of texts.
public struct AppCollation: Sendable {
  let collation: Application.Collation

  /// - Parameters:
  ///   - name: the name in SQL.
  ///   - compare: returns a number below 0 if the first text comes first, 0 if both are equal, and a number
  ///     above 0 if the first text comes last. It must always return the same result for the same texts.
  public init(_ name: String, compare: @escaping @Sendable (String, String) -> Int) {
    collation = Application.Collation(name: name, compare: compare)
  }
}
