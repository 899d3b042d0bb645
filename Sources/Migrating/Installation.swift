import SQLText
import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Puts a copy in a database's place as a file, where SQLite cannot write to what is there, or
/// nothing is.
struct Installation {
  /// As it was named.
  let database: String
  let copier: Copier

  /// - Returns: where what was there is now, with its journals: `<database>.before-restore`, or the
  ///   first of the journals, when there was nothing else.
  func run(_ backup: String) throws(Failure) -> String? {
    // A link stays, and the file that it leads to is replaced.
    let target = resolved(database)
    let copy = try copier.copy(still: backup, as: target, "a copy of \(backup)")
    copy.admitReaders(of: access(target, F_OK) == 0 ? target : backup)
    let lock = open(target, O_RDWR | O_CLOEXEC)
    defer { if lock >= 0 { close(lock) } }
    if lock >= 0, isInUse(lock) {
      throw Failure(
        .busy,
        "\(database) is damaged, and another process has it open: stop that one, then restore "
          + "again. Nothing was changed")
    }
    let setAside = try setAside(target)
    do {
      try copy.replace(target)
    } catch {
      throw Failure(error.status, "\(error.message). \(state(of: copy, backup, setAside))")
    }
    if let setAside {
      copier.onEvent(.note("what \(database) held is kept in \(setAside.path)"))
    }
    return setAside?.path
  }

  /// What became of the database when the copy could not take its place.
  private func state(
    of copy: PartialCopy, _ backup: String, _ setAside: SetAside?
  ) -> String {
    // Whether the name is on the disk only the disk knows.
    if copy.isKept {
      return "It is not certain whether \(backup) was put back: after a power cut \(database) may "
        + "be gone" + (setAside.map { ", and what it held is in \($0.path)" } ?? "")
        + ". Restore again once the disk is well"
    }
    guard let setAside, !setAside.undo() else { return "Nothing was changed" }
    return "What \(database) held is in \(setAside.path)"
  }

  /// What was there, under its new names.
  private struct SetAside {
    let target: String
    let name: String
    /// Of what was there; empty for the database itself.
    let suffixes: [String]

    /// The database itself may be gone, and only its log be left.
    var path: String { name + suffixes[0] }

    /// Gives back the names. False when something has to stay where it is.
    func undo() -> Bool {
      suffixes.reversed().reduce(true) { isDone, suffix in
        // Where it is a second name, a rename would leave both.
        let isLinked = suffix.isEmpty && access(target, F_OK) == 0
        let result = isLinked ? unlink(name) : rename(name + suffix, target + suffix)
        return result == 0 && isDone
      }
    }
  }

  /// A link gives what is there a second name, so that there is always something at the path.
  private func setAside(_ target: String) throws(Failure) -> SetAside? {
    // A journal that stayed would be played back into the copy.
    let found = ([""] + DatabaseFile.companions).filter { access(target + $0, F_OK) == 0 }
    guard !found.isEmpty else { return nil }
    let name = try freeName(target + ".before-restore")
    for (index, suffix) in found.enumerated() {
      let isDone =
        suffix.isEmpty && link(target, name) == 0 || rename(target + suffix, name + suffix) == 0
      guard !isDone else { continue }
      throw given(back: found[..<index], target, name, PartialCopy.failure(name + suffix))
    }
    do {
      try PartialCopy.syncFolder(of: name)
    } catch {
      throw given(back: found[...], target, name, error)
    }
    return SetAside(target: target, name: name, suffixes: found)
  }

  private func given(
    back done: ArraySlice<String>, _ target: String, _ name: String, _ failure: Failure
  ) -> Failure {
    let aside = SetAside(target: target, name: name, suffixes: Array(done))
    let state =
      aside.undo() ? "Nothing was changed" : "What \(database) held is in \(aside.path)"
    return Failure(failure.status, "\(failure.message). \(state)")
  }

  private func freeName(_ name: String) throws(Failure) -> String {
    for number in 1...10_000 {
      let free = number == 1 ? name : "\(name)-\(number)"
      if DatabaseFile.isFree(free) { return free }
    }
    throw Failure(.inputOutput, "\(name): there are 10,000 of this name")
  }

  /// Whether somebody holds one of the locks that SQLite takes (os.h: PENDING_BYTE and the 511
  /// bytes that follow). In WAL mode everybody who has the file open does.
  private func isInUse(_ descriptor: Int32) -> Bool {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0x4000_0000
    lock.l_len = 512
    return fcntl(descriptor, F_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)
  }

  private func resolved(_ path: String) -> String {
    var path = path
    // A link may lead to a file that is gone, which realpath does not know.
    for _ in 0..<40 {
      guard let next = destination(of: path) else { return path }
      path = next.hasPrefix("/") ? next : parentFolder(of: path) + "/" + next
    }
    return path
  }

  /// What a link leads to, nil for what is none.
  private func destination(of path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &target, target.count)
    return count > 0
      ? String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }
}
