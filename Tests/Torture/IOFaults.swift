import Foundation
import SchemaCSQLite
import SchemaFaultyFileSystem
import SchemaHistory

/// Lets the file system fail under SQLite: each call of each deed once, once and again while SQLite
/// rolls back, or from then on, in every journal mode.
enum IOFaults: Campaign {
  static let name = "io-faults"

  static func run(_ run: Run) throws {
    defer { FaultyFileSystem.shared.uninstall() }
    try Harm.proveSeen(run)
    var trials: [Trials] = []
    for mode in JournalMode.allCases {
      for deed in try Deed.all(isWAL: mode == .wal) where deed.usesFiles {
        trials.append(try Trials(deed, mode, &run.generator))
      }
    }
    while run.goesOn, !trials.isEmpty {
      for index in trials.indices where run.goesOn { try trials[index].next(run) }
      trials.removeAll(where: \.isExhausted)
    }
    run.proveShown()
  }

  private enum JournalMode: String, CaseIterable {
    case delete, truncate, persist, wal

    func during<Result>(_ body: () throws -> Result) rethrows -> Result {
      // A file remembers that it is in WAL mode, and no other mode.
      try withConnectionSettings(
        self == .wal ? "" : "PRAGMA main.journal_mode = \(rawValue)", body)
    }
  }

  private struct Fault {
    /// The call that fails, counted from 1.
    let call: Int
    let again: Again
    /// Chooses among the ways in which such a call can fail.
    let way: Int

    enum Again: Hashable {
      case never
      case after(calls: Int)
      case always

      var name: String {
        switch self {
        case .never: "once"
        case .after: "and another one while SQLite goes back"
        case .always: "and everything after it"
        }
      }
    }

    func befalls(_ number: Int) -> Bool {
      switch again {
      case _ where number == call: true
      case .never: false
      case .after(let calls): number == call + calls
      case .always: number > call
      }
    }
  }

  /// Every way to let the file system fail under one deed, in an order of chance.
  private struct Trials {
    private let deed: Deed
    private let mode: JournalMode
    private var left: [Fault]

    init(
      _ deed: Deed, _ mode: JournalMode, _ generator: inout some RandomNumberGenerator
    ) throws {
      self.deed = deed
      self.mode = mode
      try deed.reset()
      var calls = 0
      FaultyFileSystem.shared.install { call in
        calls += call.ways.isEmpty ? 0 : 1
        return call.withoutWaiting
      }
      _ = mode.during { deed.perform() }
      FaultyFileSystem.shared.uninstall()
      left = (1...max(calls, 1)).flatMap { call in
        let after = (1...3).map { _ in
          Fault.Again.after(calls: Int.random(in: 1...12, using: &generator))
        }
        return ([.never, .always] + after).flatMap { again in
          (0..<2).map { Fault(call: call, again: again, way: $0) }
        }
      }.shuffled(using: &generator)
    }

    var isExhausted: Bool { left.isEmpty }

    mutating func next(_ run: Run) throws {
      guard let fault = left.popLast() else { return }
      try deed.reset()
      let (ending, made) = done(under: fault)
      guard let first = made.first else { return }
      let problem = try deed.problem(
        of: ending, keepsJournal: mode == .truncate || mode == .persist
      ) { ending in made.contains { $0.explains(ending) } }
      run.note(
        "\(first.name) fails, \(fault.again.name)", shows: ending != deed.ending,
        problem: problem.map { "\(mode.rawValue), \(deed.name), \(fault): \($0)" })
    }

    /// How the deed ends, and which faults it met.
    private func done(under fault: Fault) -> (Deed.Ending, [MadeFault]) {
      var calls = 0
      var made: [MadeFault] = []
      FaultyFileSystem.shared.install { call in
        let ways = call.ways
        if ways.isEmpty { return .pass }
        calls += 1
        guard fault.befalls(calls) else { return call.withoutWaiting }
        let way = ways[fault.way % ways.count]
        made.append(MadeFault(name: call.name, code: way.code))
        way.first(call)
        return .fail(way.code)
      }
      defer { FaultyFileSystem.shared.uninstall() }
      return (mode.during { deed.perform() }, made)
    }
  }
}

/// A call that was made to fail.
private struct MadeFault {
  let name: String
  let code: Int32

  /// Whether the ending tells of such a fault: what failed, and where.
  func explains(_ ending: Deed.Ending) -> Bool {
    // A lock that cannot be given up stands in the way of the same process's next connection.
    let isUnlock = code == SQLITE_IOERR | 8 << 8
    let statuses: [ExitStatus] =
      isUnlock ? [.inputOutput, .busy] : [code & 0xFF == SQLITE_BUSY ? .busy : .inputOutput]
    return statuses.contains(ending.status) && ending.message.contains("live.sqlite")
  }
}

/// How a call can fail.
private struct Way {
  let code: Int32
  /// What of it is done nevertheless.
  var first: (FileCall) -> Void = { _ in }
}

extension FileCall {
  fileprivate var name: String {
    "\(action.name) of \(role == .main ? "the database" : role.rawValue)"
  }

  /// With the codes that SQLite's own file system gives.
  fileprivate var ways: [Way] {
    switch action {
    case .open: [Way(code: SQLITE_CANTOPEN)]
    case .read: [Way(code: SQLITE_IOERR | 1 << 8)]
    case .write:
      [Way(code: SQLITE_FULL, first: { $0.writeHalf() }), Way(code: SQLITE_IOERR | 3 << 8)]
    case .sync: [Way(code: SQLITE_IOERR | 4 << 8)]
    case .truncate: [Way(code: SQLITE_IOERR | 6 << 8)]
    case .size: [Way(code: SQLITE_IOERR | 7 << 8)]
    case .unlock: [Way(code: SQLITE_IOERR | 8 << 8)]
    // Gone is the file, and its folder is not synced.
    case .delete:
      [
        Way(code: SQLITE_IOERR | 10 << 8),
        Way(code: SQLITE_IOERR | 5 << 8, first: { $0.remove() }),
      ]
    case .access: [Way(code: SQLITE_IOERR | 13 << 8)]
    case .checkReservedLock: [Way(code: SQLITE_IOERR | 14 << 8)]
    case .lock: [Way(code: SQLITE_IOERR | 15 << 8), Way(code: SQLITE_BUSY)]
    case .map: [Way(code: SQLITE_IOERR | 21 << 8)]
    case .lockMap(let flags) where flags & SQLITE_SHM_LOCK != 0: [Way(code: SQLITE_IOERR | 20 << 8)]
    // What cannot fail, or is not looked at.
    case .close, .barrier, .unmap, .lockMap: []
    }
  }

  /// A full disk takes what it has room for.
  private func writeHalf() {
    guard case .write(let offset, let bytes) = action, !path.isEmpty else { return }
    let file = open(path, O_WRONLY)
    guard file >= 0 else { return }
    pwrite(file, bytes.baseAddress, bytes.count / 2, off_t(offset))
    close(file)
  }

  private func remove() { unlink(path) }
}
