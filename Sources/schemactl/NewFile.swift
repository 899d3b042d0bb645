import History

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Makes a file that nobody sees half written, and that replaces none.
func createFile(_ bytes: [UInt8], at path: String) throws(FileError) {
  let temporary = path + ".new"
  defer { unlink(temporary) }
  try writeFileAtomically(bytes, to: temporary)
  if link(temporary, path) == 0 { return }
  let problem = errno
  // Where the file system knows no links, the claim and this look must do.
  guard problem != EEXIST, access(path, F_OK) != 0, errno == ENOENT,
    rename(temporary, path) == 0
  else { throw FileError(path: path, systemError: problem) }
}
