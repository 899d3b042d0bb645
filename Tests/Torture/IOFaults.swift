import Foundation
import SchemaCSQLite
import SchemaFaultyFileSystem
import SchemaHistory

/// Makes SQLite's file system fail in every journal mode. Each call of each action fails once, again during
/// the rollback, or permanently.
enum IOFaults: Campaign {
  static let name = "io-faults"

  static func run(_ run: Run) throws {
    defer { FaultyFileSystem.shared.uninstall() }
    try Harm.proveSeen(run)
    var trials: [Trials] = []
    for mode in JournalMode.allCases {
      for userAction in try UserAction.all(isWAL: mode == .wal) where userAction.usesFiles {
        trials.append(try Trials(userAction, mode, &run.generator))
      }
    }
    while run.mayContinue, !trials.isEmpty {
      for index in trials.indices where run.mayContinue { try trials[index].next(run) }
      trials.removeAll(where: \.isExhausted)
    }
    run.proveShown()
  }

  private enum JournalMode: String, CaseIterable {
    case delete, truncate, persist, wal

    func during<Result>(_ body: () throws -> Result) rethrows -> Result {
      // WAL mode is stored in the file. Other modes are a setting of the connection.
      try withConnectionSettings(
        self == .wal ? "" : "PRAGMA main.journal_mode = \(rawValue)", body)
    }
  }

  private struct Fault {
    /// The number of the failing call, counted from 1.
    let call: Int
    let again: Again
    /// Selects one of the possible errors of the call.
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

  /// The faults of the file system for one action, in random order.
  private struct Trials {
    private let userAction: UserAction
    private let mode: JournalMode
    private var left: [Fault]

    init(
      _ userAction: UserAction, _ mode: JournalMode, _ generator: inout some RandomNumberGenerator
    ) throws {
      self.userAction = userAction
      self.mode = mode
      try userAction.reset()
      var calls = 0
      FaultyFileSystem.shared.install { call in
        calls += call.ways.isEmpty ? 0 : 1
        return call.withoutWaiting
      }
      _ = mode.during { userAction.perform() }
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
      try userAction.reset()
      let (ending, made) = done(under: fault)
      guard let first = made.first else { return }
      let problem = try userAction.problem(
        of: ending, keepsJournal: mode == .truncate || mode == .persist
      ) { ending in made.contains { $0.explains(ending) } }
      run.note(
        "\(first.name) fails, \(fault.again.name)", shows: ending != userAction.ending,
        problem: problem.map { "\(mode.rawValue), \(userAction.name), \(fault): \($0)" })
    }

    /// Performs the action with a fault. Returns the result and the calls that failed.
    private func done(under fault: Fault) -> (UserAction.Ending, [MadeFault]) {
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
      return (mode.during { userAction.perform() }, made)
    }
  }
}

/// A call that failed.
private struct MadeFault {
  let name: String
  let code: Int32

  /// Whether the message explains the fault by its cause and its place.
  func explains(_ ending: UserAction.Ending) -> Bool {
    // A lock that cannot be released blocks the next connection of the same process.
    let isUnlock = code == SQLITE_IOERR | 8 << 8
    let statuses: [ExitStatus] =
      isUnlock ? [.inputOutput, .busy] : [code & 0xFF == SQLITE_BUSY ? .busy : .inputOutput]
    return statuses.contains(ending.status) && ending.message.contains("live.sqlite")
  }
}

/// A possible error of a call.
private struct Way {
  let code: Int32
  /// The part of the call that happens although the call fails.
  var first: (FileCall) -> Void = { _ in }
}

extension FileCall {
  fileprivate var name: String {
    "\(action.name) of \(role == .main ? "the database" : role.rawValue)"
  }

  /// The possible errors of the call, with the codes of SQLite's own file system.
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
    // The second error: the file is deleted, but its folder is not synced.
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
    // These calls cannot fail, or SQLite ignores their result.
    case .close, .barrier, .unmap, .lockMap: []
    }
  }

  /// A full disk still accepts the bytes that fit.
  private func writeHalf() {
    guard case .write(let offset, let bytes) = action, !path.isEmpty else { return }
    let file = open(path, O_WRONLY)
    guard file >= 0 else { return }
    pwrite(file, bytes.baseAddress, bytes.count / 2, off_t(offset))
    close(file)
  }

  private func remove() { unlink(path) }
}
