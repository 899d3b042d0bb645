/// The folder of a path; `.` if the path has none.
package func parentFolder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// The last part of a path as bytes, because file names need not be UTF-8.
package func nameBytes(of path: String) -> [UInt8] {
  path.utf8.lastIndex(of: UInt8(ascii: "/")).map { Array(path.utf8[$0...].dropFirst()) }
    ?? Array(path.utf8)
}
