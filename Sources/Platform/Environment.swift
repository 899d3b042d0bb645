/// The environment variables of the process.
package enum Environment {
  package static subscript(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
