import SchemaHistory
import SchemaSQLText

/// The nodes of a dqlite cluster and the name of a database: `dqlite://host:9001,host:9002/app.db`.
package struct ClusterAddress: Sendable {
  package static let scheme = "dqlite://"

  /// The address as the user wrote it.
  package let text: String
  /// The addresses `host:port` of one or more nodes.
  package let nodes: [String]
  package let database: String

  /// Parses an address.
  ///
  /// - Returns: nil for the path of a file.
  /// - Throws: a usage error (64) for an incomplete address.
  package init?(_ text: String) throws(Failure) {
    guard text.identifier.hasPrefix(Self.scheme.identifier) else { return nil }
    let rest = text.dropFirst(Self.scheme.count)
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let nodes = parts[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[1].isEmpty, nodes.allSatisfy({ NodeAddress($0) != nil }) else {
      throw Failure(
        .usage,
        "`\(text)` is not the address of a dqlite database, such as "
          + "`dqlite://10.0.0.1:9001,10.0.0.2:9001/app.db`")
    }
    self.text = text
    self.nodes = nodes
    database = String(parts[1])
    guard Self.isName(database) else {
      throw Failure(
        .usage,
        "`\(database)` cannot name a dqlite database: use up to 250 bytes, no `:`, and no `-wal` or `-journal` at "
          + "the end, such as `app.db`")
    }
  }

  /// Whether a node can open a database of this name. `:memory:` crashes the leader, and `x-wal` is the log
  /// of `x`.
  private static func isName(_ name: String) -> Bool {
    name.utf8.count <= 250 && !name.utf8.contains(UInt8(ascii: ":")) && ![".", ".."].contains(name)
      && !name.hasSuffix("-wal") && !name.hasSuffix("-journal")
  }
}

/// The address `host:port` of a node.
struct NodeAddress: Sendable {
  let host: String
  let port: String

  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    port = String(text[text.index(after: colon)...])
    let host = text[..<colon]
    // Brackets enclose an IPv6 address, because it contains colons.
    self.host =
      host.hasPrefix("[") && host.hasSuffix("]")
      ? String(host.dropFirst().dropLast()) : String(host)
    guard !self.host.isEmpty, UInt16(port) != nil else { return nil }
  }
}
