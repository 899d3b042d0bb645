import SQLText

extension HistoryLock {
  /// The line of the file, from 1, that freezes the migration; nil when none does.
  package func line(freezing id: String) -> Int? {
    let index = lines.firstIndex { line in
      if case .entry(let entry) = line { entry.id == id } else { false }
    }
    return index.map { LockFormat.headerLines.count + $0 + 1 }
  }
}
