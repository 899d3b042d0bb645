#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The only use of Foundation: `localizedDescription` is the message.
extension SchemaError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}
