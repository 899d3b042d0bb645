import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// A compiled history: one file that an app ships and reads without YAML.
///
/// The file begins with a line that names the format. The length of the header, the header, its SHA-256 and
/// the parts follow; the header contains the place and the digest of each part. The header is checked when
/// the bundle is opened, and a part when it is decoded. The bundle is a class, so that copies of a project
/// share it.
package final class HistoryBundle: Sendable {
  /// One migration, as the header lists it.
  package struct Item: Sendable {
    package let id: String
    package let rawDigest: String
    package let canonicalDigest: String
    package let isFrozen: Bool
    fileprivate let manifest: Part
  }

  /// The schema after a release, so that a replay need not begin with the first migration.
  package struct ReleasedSchema: Sendable {
    /// The number of migrations up to and including the release.
    package let count: Int
    package let fingerprint: String
    package let schema: Schema

    package init(count: Int, fingerprint: String, schema: Schema) {
      self.count = count
      self.fingerprint = fingerprint
      self.schema = schema
    }
  }

  fileprivate struct Part: Sendable {
    let place: Range<Int>
    let digest: String
  }

  static let magic = "schemactl bundle "
  static let version = "1"

  /// The bundle in messages: its path in backquotes, or a phrase.
  private let subject: String
  /// The path of the manifests' folder when `schemactl bundle` ran.
  package let folder: String
  package let ledger: Ledger
  /// The configuration's `ignore`.
  package let ignored: [String]
  /// The migrations, in the order of the history.
  package let items: [Item]
  /// The migrations that the first one, a squash, replaces. A database that has run some of them needs the
  /// rest.
  private let squashed: [Item]
  private let lockPart: Part?
  private let connectionPart: Part?
  private let schemasPart: Part
  /// The bytes after the header, which contain the parts.
  private let parts: ArraySlice<UInt8>

  package var drafts: [String] { items.filter { !$0.isFrozen }.map(\.id) }

  // MARK: Reading

  /// Opens a bundle. Its parts are decoded later.
  ///
  /// - Throws: a failure (65) if the file is not a bundle, is truncated, was edited, or has another format
  ///   version.
  package init(_ bytes: [UInt8], subject: String) throws(Failure) {
    let end = bytes.firstIndex(of: .lineFeed) ?? bytes.endIndex
    let line = String(decoding: bytes[..<end], as: UTF8.self)
    guard line.hasPrefix(Self.magic), end < bytes.endIndex else {
      throw Failure(.invalidInput, "\(subject) is not a bundle of migrations")
    }
    guard line == Self.magic + Self.version else {
      throw Failure(
        .invalidInput,
        "\(subject) has the format `\(line)`, but this program reads version \(Self.version) only",
        remedy: "Build the app and the bundle with the same version of schemactl")
    }
    do {
      var reader = ByteReader(bytes[(end + 1)...])
      let header = try reader.content()
      guard try reader.text() == SHA256.hex(header) else { throw MalformedBytes() }
      var fields = ByteReader(header)
      folder = try fields.text()
      let start = header.endIndex + 65
      parts = bytes[min(start, bytes.endIndex)...]
      ledger = Ledger(table: try fields.text().identifier)
      ignored = try fields.list { (fields) throws(MalformedBytes) in try fields.text() }
      guard try fields.number() == parts.count else { throw MalformedBytes() }
      items = try fields.list(Item.init)
      squashed = try fields.list(Item.init)
      lockPart = try fields.byte() == 0 ? nil : try Part(&fields)
      connectionPart = try fields.byte() == 0 ? nil : try Part(&fields)
      schemasPart = try Part(&fields)
    } catch {
      throw Self.damaged(subject)
    }
    self.subject = subject
  }

  private static func damaged(_ subject: String) -> Failure {
    Failure(
      .invalidInput, "\(subject) is truncated or edited: its digest does not match its content",
      remedy: "Write it again with `schemactl bundle`")
  }

  private func content(_ part: Part) throws(Failure) -> ArraySlice<UInt8> {
    let (start, count) = (parts.startIndex, parts.count)
    guard part.place.upperBound <= count else { throw Self.damaged(subject) }
    let bytes = parts[start + part.place.lowerBound..<start + part.place.upperBound]
    guard SHA256.hex(bytes) == part.digest else { throw Self.damaged(subject) }
    return bytes
  }

  /// Decodes every manifest.
  package func migrations() throws(Failure) -> [Migration] {
    try decoded(items, in: MigrationFolder(folder))
  }

  /// Decodes the manifests that a squash replaces; nil if the bundle contains none.
  package func squashedMigrations() throws(Failure) -> [Migration]? {
    squashed.isEmpty ? nil : try decoded(squashed, in: MigrationFolder(folder).squashed)
  }

  private func decoded(
    _ items: [Item], in folder: MigrationFolder
  ) throws(Failure) -> [Migration] {
    var migrations: [Migration] = []
    for item in items {
      let file = folder.file(ofMigration: item.id)
      var reader = ByteReader(try content(item.manifest))
      do {
        let text = Array(try reader.content())
        let tree = try reader.content()
        let document = try Document(decoding: tree, source: SourceText(withoutMark(text)))
        migrations.append(
          Migration(
            id: item.id, file: file, bytes: text, manifest: try decodeManifest(document, file: file)
          ))
      } catch let input as InvalidInput {
        throw Failure(input)
      } catch {
        throw Self.damaged(subject)
      }
      guard migrations.last?.rawDigest == item.rawDigest,
        migrations.last?.canonicalDigest == item.canonicalDigest
      else { throw Self.damaged(subject) }
    }
    return migrations
  }

  package func lock() throws(Failure) -> HistoryLock? {
    guard let lockPart else { return nil }
    let bytes = Array(try content(lockPart))
    guard let lock = try? HistoryLock(parsing: bytes) else { throw Self.damaged(subject) }
    return lock
  }

  /// The SQL that the app runs on each connection; nil if the history has no such SQL.
  package func connectionSQL() throws(Failure) -> String? {
    guard let connectionPart else { return nil }
    return String(decoding: try content(connectionPart), as: UTF8.self)
  }

  /// The schema after the newest release whose migrations have all run; nil without such a release.
  ///
  /// - Parameter known: the ids in a ledger.
  package func newestSchema(_ known: Set<ExactText>) throws(Failure) -> ReleasedSchema? {
    let count = items.prefix { known.contains($0.id) }.count
    var reader = ByteReader(try content(schemasPart))
    do {
      let objects = try reader.list { (reader) throws(MalformedBytes) in
        guard let kind = SchemaObject.Kind(rawValue: try reader.text()) else {
          throw MalformedBytes()
        }
        return SchemaObject(
          kind: kind, name: try reader.text(), table: try reader.text(),
          sql: try reader.optionalText())
      }
      let releases = try reader.list { (reader) throws(MalformedBytes) in
        ReleasedSchema(
          count: try reader.number(), fingerprint: try reader.text(),
          schema: Schema(
            objects: try reader.list { (reader) throws(MalformedBytes) in
              let index = try reader.number()
              guard index < objects.count else { throw MalformedBytes() }
              return objects[index]
            }))
      }
      return releases.last { $0.count <= count }
    } catch {
      throw Self.damaged(subject)
    }
  }

  /// Whether the history begins with the migrations `ids`.
  package func begins(with ids: [String]) -> Bool {
    ids.count <= items.count && zip(ids, items).allSatisfy { $0 == $1.id }
  }

  /// Whether the ledger contains exactly these migrations, in these forms. The migrations that a squash
  /// replaces may take its place. Decodes no manifest.
  ///
  /// - Returns: false also for an unreadable ledger, which the full run reports.
  package func isApplied(in connection: Connection) -> Bool {
    let histories = squashed.isEmpty ? [items] : [items, squashed + items.dropFirst()]
    return histories.contains { items in
      let forms = items.lazy.map {
        AppliedForm(id: $0.id, rawDigest: $0.rawDigest, canonicalDigest: $0.canonicalDigest)
      }
      return ledger.holds(forms, in: connection)
    }
  }
}

extension HistoryBundle.Item {
  fileprivate init(_ reader: inout ByteReader) throws(MalformedBytes) {
    id = try reader.text()
    rawDigest = try reader.text()
    canonicalDigest = try reader.text()
    isFrozen = try reader.byte() == 1
    manifest = try HistoryBundle.Part(&reader)
  }
}

extension HistoryBundle.Part {
  fileprivate init(_ reader: inout ByteReader) throws(MalformedBytes) {
    let start = try reader.number()
    place = start..<start + (try reader.number())
    digest = try reader.text()
  }

  fileprivate func write(to writer: inout ByteWriter) {
    writer.write(place.lowerBound)
    writer.write(place.count)
    writer.write(digest)
  }
}

// MARK: Writing

extension HistoryBundle {
  /// One manifest that is written to a bundle.
  package typealias Source = (migration: Migration, isFrozen: Bool, document: Document)

  /// The bytes of a bundle.
  ///
  /// - Parameters:
  ///   - squashed: the manifests that the first one replaces.
  ///   - schemas: the schema after each release, oldest release first.
  package static func encoded(
    folder: String, ledger: Ledger, ignoring ignored: [String], _ sources: [Source],
    squashed: [Source], lock: HistoryLock?, connectionSQL: String?, schemas: [ReleasedSchema]
  ) -> [UInt8] {
    var parts: [UInt8] = []
    func part(_ bytes: [UInt8]) -> Part {
      let start = parts.count
      parts += bytes
      return Part(place: start..<parts.count, digest: SHA256.hex(bytes))
    }
    let manifests = [sources, squashed].map { sources in
      sources.map { source in
        var writer = ByteWriter()
        writer.write(source.migration.bytes)
        writer.write(source.document.encoded)
        return (source: source, part: part(writer.bytes))
      }
    }
    let others = [lock?.rendered(), connectionSQL.map { Array($0.utf8) }].map { $0.map(part) }
    let schemasPart = part(encoded(schemas))
    var header = ByteWriter()
    header.write(folder)
    header.write(ledger.table.text)
    header.write(list: ignored) { $1.write($0) }
    header.write(parts.count)
    for list in manifests {
      header.write(list: list) { item, header in
        header.write(item.source.migration.id)
        header.write(item.source.migration.rawDigest)
        header.write(item.source.migration.canonicalDigest)
        header.write(byte: item.source.isFrozen ? 1 : 0)
        item.part.write(to: &header)
      }
    }
    for part in others {
      header.write(byte: part == nil ? 0 : 1)
      part?.write(to: &header)
    }
    schemasPart.write(to: &header)
    var file = ByteWriter()
    file.write(header.bytes)
    file.write(SHA256.hex(header.bytes))
    return Array("\(magic)\(version)\n".utf8) + file.bytes + parts
  }

  /// The bytes of the schemas. Most objects do not change from release to release, so each object is written
  /// once.
  private static func encoded(_ schemas: [ReleasedSchema]) -> [UInt8] {
    var places: [SchemaObject: Int] = [:]
    var objects: [SchemaObject] = []
    let releases = schemas.map { release in
      release.schema.objects.filter { !$0.isInternal }.map { object in
        let plain = SchemaObject(
          kind: object.kind, name: object.name, table: object.table, sql: object.sql)
        if let place = places[plain] { return place }
        places[plain] = objects.count
        objects.append(plain)
        return objects.count - 1
      }
    }
    var writer = ByteWriter()
    writer.write(list: objects) { object, writer in
      writer.write(object.kind.rawValue)
      writer.write(object.name)
      writer.write(object.table)
      writer.write(object.sql)
    }
    writer.write(list: Array(zip(schemas, releases))) { release, writer in
      writer.write(release.0.count)
      writer.write(release.0.fingerprint)
      writer.write(list: release.1) { $1.write($0) }
    }
    return writer.bytes
  }
}
