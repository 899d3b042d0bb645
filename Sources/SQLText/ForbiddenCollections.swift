#if FORBIDS_STRING_SETS
  // Calls of these declarations do not compile, because their warning is an error.

  extension Set where Element == String {
    @available(*, deprecated, message: "use Set<Identifier> or Set<ExactText>")
    package init(_ texts: some Sequence<String>) {
      self = texts.reduce(into: []) { $0.update(with: $1) }
    }

    @available(*, deprecated, message: "use Set<Identifier> or Set<ExactText>")
    package func contains(_ text: String) -> Bool { isSuperset(of: CollectionOfOne(text)) }

    @available(*, deprecated, message: "use Set<Identifier> or Set<ExactText>")
    @discardableResult
    package mutating func insert(
      _ text: String
    ) -> (inserted: Bool, memberAfterInsert: String) {
      update(with: text).map { (false, $0) } ?? (true, text)
    }
  }

  extension Dictionary where Key == String {
    @available(*, deprecated, message: "use Identifier or ExactText as the key")
    package init(uniqueKeysWithValues pairs: some Sequence<(String, Value)>) {
      self = pairs.reduce(into: [:]) { $0.updateValue($1.1, forKey: $1.0) }
    }

    @available(*, deprecated, message: "use Identifier or ExactText as the key")
    package init(
      _ pairs: some Sequence<(String, Value)>,
      uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows {
      self = [:]
      try merge(pairs, uniquingKeysWith: combine)
    }

    @available(*, deprecated, message: "use Identifier or ExactText as the key")
    package subscript(_ key: String) -> Value? {
      get { index(forKey: key).map { self[$0].value } }
      set {
        if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
      }
    }

    @available(*, deprecated, message: "use Identifier or ExactText as the key")
    package subscript(_ key: String, default value: @autoclosure () -> Value) -> Value {
      get { index(forKey: key).map { self[$0].value } ?? value() }
      set { updateValue(newValue, forKey: key) }
    }
  }
#endif
