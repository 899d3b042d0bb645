import SchemaHistory
import SchemaManifest
import SchemaSQLText
import SchemaTimeline

extension Suppressions {
  /// The suppression of a `two-devices` finding: its own, or that of another rule's finding about
  /// the same change of the same object.
  mutating func suppress(
    _ draft: Draft, foundAlsoBy others: [(rule: Rule, draft: Draft)], _ migrations: [Migration]
  ) -> Suppression? {
    for (rule, other) in others
    where !rule.needsDevices && draft.isSameChange(as: other, migrations) {
      if let suppression = suppress(rule.id, other) { return suppression }
    }
    return nil
  }
}

extension Draft {
  /// Whether both findings concern the same change of the same object.
  fileprivate func isSameChange(as other: Draft, _ migrations: [Migration]) -> Bool {
    guard migration == other.migration, let object, let theirs = other.object,
      let table = table?.identifier, other.table?.identifier == table
    else { return false }
    if object.identifier == theirs.identifier { return true }
    guard operation == other.operation else { return false }
    if isOneChange(migrations) { return true }
    // One statement may change several columns independently.
    return position == other.position && !theirs.identifier.hasPrefix(Identifier("\(table)."))
  }

  /// Whether the operation makes a single change, even if that affects two columns.
  func isOneChange(_ migrations: [Migration]) -> Bool {
    switch migrations.operation(operation, of: migration)?.kind {
    case nil, .sql?, .rebuildTable?, .createTable?, .alterColumn?: false
    default: true
    }
  }
}
