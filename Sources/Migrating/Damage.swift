import SQLText
import SQLite
import SchemaModel

/// Damage that SQLite itself may not meet while it writes, and that makes it write one table's rows
/// over another's: a page that belongs to two.
extension Connection {
  /// `structuralDamage` for who rewrites no row and drops no index: it can hurt only by taking pages
  /// that are listed as free, or by moving what is in the way. Otherwise it writes to the ledger and
  /// to `sqlite_schema`, all of whose rows have just been read, and to pages at the file's end.
  func damageOfReusedPages() throws(DatabaseError) -> String? {
    let free = try value("PRAGMA main.freelist_count")
    let moves = try value("PRAGMA main.auto_vacuum")
    return free == 0 && moves == 0 ? nil : try structuralDamage()
  }
}

extension Schema {
  /// Two tables or indexes that begin on the same page: what is written to one is lost to the other.
  var damage: String? {
    var owners: [Int64: SchemaObject] = [:]
    for object in objects where object.rootPage != 0 {
      if let other = owners.updateValue(object, forKey: object.rootPage) {
        return "\(other.name) and \(object.name) are said to begin on the same page"
      }
    }
    return nil
  }
}

extension Failure {
  init(damaged database: String, _ what: String) {
    self.init(
      .inputOutput,
      "\(database) is damaged (\(what)). Nothing was changed\(Self.restoring(database))")
  }
}
