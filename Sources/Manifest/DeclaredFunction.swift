import SchemaSQLText

/// An SQL function that the application registers.
package struct DeclaredFunction: Sendable, Equatable {
  package let name: String
  /// -1: any number.
  package let arguments: Int

  package init(name: String, arguments: Int = -1) {
    self.name = name
    self.arguments = arguments
  }
}
