/// SQL as text, without a connection.
///
/// - ``TokenizedSQL``: the tokens of a text, as SQLite reads them.
/// - ``parseCreate(_:)``: the parts of a CREATE statement.
/// - ``Identifier``, ``ExactText``: names as SQLite compares them, and texts that are compared byte by byte.
/// - ``Quoting``: names and texts as SQL.
