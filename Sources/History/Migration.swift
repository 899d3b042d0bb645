import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaSQLText

/// One manifest of a folder.
package struct Migration: Sendable {
  /// The file name without `.yaml`.
  package let id: String
  package let number: MigrationNumber
  /// The path, which begins with the name of the folder as the user gave it.
  package let file: String
  /// The content of the file.
  package let bytes: [UInt8]
  package let manifest: Manifest
  package let rawDigest: String
  package let canonicalDigest: String

  /// - Parameter bytes: the content of the file that `manifest` was decoded from.
  package init(id: String, file: String, bytes: [UInt8], manifest: Manifest) {
    self.id = id
    number = MigrationNumber(id: id)
    self.file = file
    self.bytes = bytes
    self.manifest = manifest
    rawDigest = SchemaHistory.rawDigest(of: bytes)
    canonicalDigest = SHA256.hex(manifest.canonicalForm)
  }

  /// Whether the file contains CR, which the raw digest ignores before LF.
  package var hasCarriageReturns: Bool { bytes.contains(.carriageReturn) }

  /// - Parameter name: an id or a number.
  package func answers(to name: String) -> Bool {
    id == name || name.utf8.allSatisfy(\.isDigit) && MigrationNumber(id: name) == number
  }
}

/// The number at the start of a migration's id, of any width: `007_x` is 7. A timestamp is a number too.
package struct MigrationNumber: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// ASCII digits without leading zeros; empty for zero.
  private let digits: [UInt8]

  /// The leading digits of `id`; an id without any has the number 0.
  package init(id: String) {
    digits = Array(id.utf8.prefix(while: \.isDigit).drop { $0 == UInt8(ascii: "0") })
  }

  package var description: String {
    digits.isEmpty ? "0" : String(decoding: digits, as: UTF8.self)
  }

  package static func < (a: MigrationNumber, b: MigrationNumber) -> Bool {
    a.digits.count == b.digits.count
      ? a.digits.lexicographicallyPrecedes(b.digits) : a.digits.count < b.digits.count
  }
}

extension MigrationNumber {
  /// The digits at the start of the next migration's id: the last number plus one, in the same width, or the
  /// current time if the numbers are timestamps (`20261120130000`).
  package static func digits(after last: String, at now: Timestamp) -> String {
    var digits = Array(last.utf8.prefix(while: \.isDigit))
    let isTimestamp = digits.count >= 12 && digits.first != UInt8(ascii: "0")
    let nines = digits.reversed().prefix { $0 == UInt8(ascii: "9") }.count
    digits.removeLast(nines)
    digits = (digits.popLast().map { digits + [$0 + 1] } ?? [UInt8(ascii: "1")])
    digits += repeatElement(UInt8(ascii: "0"), count: nines)
    let next = String(decoding: digits, as: UTF8.self)
    guard isTimestamp else { return next }
    let present = String(decoding: now.description.utf8.filter(\.isDigit).prefix(14), as: UTF8.self)
    // `next` is greater if two migrations have the same second, or if a clock was ahead.
    return MigrationNumber(id: next) < MigrationNumber(id: present) ? present : next
  }
}

/// The reason why `id` is not a valid migration id; nil if it is valid. A valid id is a number, `_`, and a
/// name of ASCII letters, digits, `_`, `-`, `.`, and non-ASCII characters other than white space, control
/// characters and bidirectional controls.
package func problem(ofMigrationID id: String) -> String? {
  let rest = id.utf8.drop(while: \.isDigit)
  guard rest.count < id.utf8.count else {
    return "the name has no number: use a name such as `0001_what_it_does.yaml`"
  }
  guard rest.first == UInt8(ascii: "_"), rest.count > 1 else {
    return "`_` and a name must follow the number, as in `0001_what_it_does.yaml`"
  }
  guard let character = id.unicodeScalars.first(where: { !isAllowedInID($0) }) else { return nil }
  return "the name contains \(named(character)): use only letters, digits, `_`, `-` and `.`"
}

private func isAllowedInID(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar {
  case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
  case _ where scalar.isASCII: false
  default:
    // Characters that change the text direction could make a line of the lock look like another line.
    !scalar.properties.isWhitespace && !scalar.properties.isBidiControl
      && scalar.properties.generalCategory != .control
  }
}

private func named(_ scalar: Unicode.Scalar) -> String {
  switch scalar {
  case " ": return "a space"
  case "!"..."~": return "`\(scalar)`"
  default: return "the character \(scalar.codePoint)"
  }
}

/// The command that renumbers drafts.
package func renumberCommand(_ ids: [String]) -> String {
  "schemactl renumber " + ids.map(shellQuoted).joined(separator: " ")
}

/// The raw digest, version 1: SHA-256 of the bytes with CRLF read as LF.
package func rawDigest(of bytes: [UInt8]) -> String {
  SHA256.hex(readingCRLFAsLF(bytes))
}

/// Whether the text is a digest in the form of locks and ledgers: 64 lower-case hexadecimal digits.
func isDigest(_ text: some Collection<UInt8>) -> Bool {
  text.count == 64
    && text.allSatisfy { $0 &- UInt8(ascii: "0") < 10 || $0 &- UInt8(ascii: "a") < 6 }
}

func readingCRLFAsLF(_ bytes: [UInt8]) -> [UInt8] {
  guard bytes.contains(.carriageReturn) else { return bytes }
  var result: [UInt8] = []
  result.reserveCapacity(bytes.count)
  for (index, byte) in bytes.enumerated() {
    let endsLine = index + 1 < bytes.count && bytes[index + 1] == .lineFeed
    if byte != .carriageReturn || !endsLine { result.append(byte) }
  }
  return result
}

// MARK: Squashes

/// The id of the squash whose last migration is `last`: `0012_squash_add_tags` for `0012_add_tags`.
package func squashID(of last: String) -> String {
  let digits = last.utf8.prefix(while: \.isDigit)
  let rest = last.utf8.dropFirst(digits.count)
  return String(decoding: Array(digits), as: UTF8.self) + "_squash"
    + String(decoding: Array(rest), as: UTF8.self)
}

/// The ids that are squashes of other ids in the list.
package func squashes(among ids: [String]) -> Set<ExactText> {
  let all = Set(ids.map(\.exact))
  return Set(ids.map { squashID(of: $0).exact }).intersection(all)
}

extension Migration {
  /// The squashes among the migrations that this one replaces.
  package var olderSquashes: Set<ExactText> { squashes(among: manifest.squashed) }

  /// The migrations that a squash replaces, without older squashes.
  package var replacedMigrations: [String] {
    let older = olderSquashes
    return manifest.squashed.filter { !older.contains($0) }
  }

  /// Whether this migration is a squash of the named migration.
  ///
  /// - Parameter name: an id or a number.
  package func replaces(_ name: String) -> Bool {
    manifest.squashed.contains { id in
      id == name
        || name.utf8.allSatisfy(\.isDigit) && MigrationNumber(id: name) == MigrationNumber(id: id)
    }
  }

  /// Whether a database that has run the migrations `run` has run every migration that the squash replaces.
  package func isReplaced(by run: Set<ExactText>) -> Bool {
    let start = base(of: run).map { MigrationNumber(id: $0) }
    return replacedMigrations.allSatisfy { id in
      start.map { MigrationNumber(id: id) <= $0 } ?? false || run.contains(id)
    }
  }

  /// The last older squash that a database has run itself.
  package func base(of run: Set<ExactText>) -> String? {
    let older = olderSquashes
    return manifest.squashed.last { older.contains($0) && run.contains($0) }
  }
}

extension [Migration] {
  /// The number to add to the ledger positions of a history that begins with a squash. The migrations after
  /// the squash then keep the positions that they had after the migrations that it replaces.
  package var positionOffset: Int {
    guard let first, !first.manifest.squashed.isEmpty else { return 0 }
    return Swift.max(0, first.replacedMigrations.count - 1)
  }
}
