import SchemaCSQLite

/// Whether two names are equal for SQLite, which ignores the case of ASCII letters only
/// (`sqlite3_strnicmp`).
package func areSameNames(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool
{
  a.count == b.count && sqlite3_strnicmp(a.baseAddress, b.baseAddress, Int32(a.count)) == 0
}
