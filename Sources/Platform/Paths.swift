/// The folder that a path leads into: `.` when it names none.
package func parentFolder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// The last part of a path, as bytes: names of files need not be UTF-8.
package func nameBytes(of path: String) -> [UInt8] {
  path.utf8.lastIndex(of: UInt8(ascii: "/")).map { Array(path.utf8[$0...].dropFirst()) }
    ?? Array(path.utf8)
}
