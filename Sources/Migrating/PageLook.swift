import History
import Planning
import SQLite

/// A look at a database's pages by a second thread, while the first one asks what has to be asked
/// before it writes.
///
/// It reads the file without locks. That is right as long as the first thread has locked all writers out,
/// there is no write-ahead log, and nothing has been written yet: whoever began it has to wait for
/// its end before the first write.
final class PageLook {
  private let tables: Set<String>
  private let found: Beside<Result<String?, DatabaseError>>

  init(
    at database: String, rewriting tables: Set<String>, _ application: Application,
    _ interruption: Interruption
  ) {
    self.tables = tables
    found = Beside {
      do throws(DatabaseError) {
        let connection = try Connection(path: database, mode: .immutable)
        interruption.watch(connection)
        try application.registerStubs(on: connection)
        return .success(try connection.structuralDamage(rewriting: tables))
      } catch {
        return .failure(error)
      }
    }
  }

  /// What is wrong, nil when nothing is. What could not be found beside is looked for with `connection`.
  func damage(orElse connection: Connection) throws(DatabaseError) -> String? {
    switch found.wait() {
    case .success(let damage): return damage
    case .failure: return try connection.structuralDamage(rewriting: tables)
    }
  }
}
