import SchemaModel
import SchemaSQLText

extension Schema {
  /// Two tables or indexes that begin on the same page: a write to one damages the other.
  var damage: String? {
    var owners: [Int64: SchemaObject] = [:]
    for object in objects where object.rootPage != 0 {
      if let other = owners.updateValue(object, forKey: object.rootPage) {
        return "\(other.name) and \(object.name) begin on the same page"
      }
    }
    return nil
  }
}

extension Failure {
  package init(damaged database: String, _ what: String) {
    self.init(
      .inputOutput,
      "\(database) is damaged (\(what)). Nothing was changed",
      remedy: Self.restoring(database))
  }
}
