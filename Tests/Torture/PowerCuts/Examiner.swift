import Foundation
import SchemaSQLite
import SchemaTestSupport

/// Opens the files after a power failure, and determines the state of the database.
final class Examiner {
  struct Verdict {
    /// The index of the allowed state; nil if the database has no allowed state.
    var boundary: Int?
    var problem: String?
  }

  private let scenario: Scenario
  private let boundaries: [DatabaseState]
  let sandbox: Sandbox
  /// The verdicts by the image, and by its content after SQLite's recovery.
  private var verdicts: [Int: Verdict] = [:]
  private var recovered: [Int: Verdict] = [:]

  init(_ stage: Stage) throws {
    scenario = stage.scenario
    boundaries = stage.boundaries
    sandbox = try stage.template.copy()
  }

  func isKnown(_ image: Disk.Image) -> Bool { verdicts[image.key] != nil }

  func examine(_ image: Disk.Image) -> Verdict {
    let key = image.key
    if let known = verdicts[key] { return known }
    let verdict = judge(image, key)
    verdicts[key] = verdict
    return verdict
  }

  private func judge(_ image: Disk.Image, _ key: Int) -> Verdict {
    do {
      // For one image of 16, schemactl itself opens the files first. For the others, another connection
      // recovers the database. The verdict on the result may be known from earlier images.
      if key.isMultiple(of: 16) {
        try sandbox.replaceFiles(with: image)
        try finish()
      }
      try sandbox.replaceFiles(with: image)
      try recover()
      return try judgeRecovered()
    } catch {
      return Verdict(problem: "\(error)")
    }
  }

  private func judgeRecovered() throws -> Verdict {
    let key = try files().filter { !$0.key.hasSuffix("-journal") && !$0.key.hasSuffix("-wal") }.key
    if let known = recovered[key] { return known }
    let state = try Scenario.state(of: sandbox)
    var verdict = Verdict(boundary: boundaries.firstIndex(of: state))
    if let boundary = verdict.boundary {
      try scenario.verify(sandbox, boundary)
      try finish()
    } else {
      let differences = boundaries.map(state.difference).joined(separator: " / ")
      verdict.problem = "at no boundary: different from each in \(differences)"
    }
    recovered[key] = verdict
    return verdict
  }

  /// Checks that the same command can complete its work.
  private func finish() throws {
    try scenario.act(sandbox) { _ in }
    let state = try Scenario.state(of: sandbox)
    guard let last = boundaries.last, state != last else { return }
    throw Damage("done again, it ends in another state: \(state.difference(from: last))")
  }

  private func recover() throws {
    let connection = try sandbox.open()
    try connection.execute("BEGIN IMMEDIATE; ROLLBACK")
  }

  private func files() throws -> Disk.Image {
    try Dictionary(
      uniqueKeysWithValues: sandbox.fileNames().map {
        ($0, [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(sandbox.folder)/\($0)"))))
      })
  }
}

extension Disk.Image {
  /// A hash that is equal for equal images within one run of the program.
  fileprivate var key: Int {
    var hasher = Hasher()
    for (name, bytes) in sorted(by: { $0.key < $1.key }) {
      hasher.combine(name)
      bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
      hasher.combine(bytes.count)
    }
    return hasher.finalize()
  }
}

extension Sandbox {
  /// Returns the names of all files except the history.
  fileprivate func fileNames() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "migrations" }
  }

  func replaceFiles(with image: Disk.Image) throws {
    for name in try fileNames() {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
    for (name, bytes) in image {
      try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
  }

  /// Copies the history and the files to another folder.
  func copy() throws -> Sandbox {
    let copy = try Sandbox()
    try FileManager.default.removeItem(atPath: copy.folder + "/migrations")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try FileManager.default.copyItem(
        atPath: "\(folder)/\(name)", toPath: "\(copy.folder)/\(name)")
    }
    return copy
  }
}
