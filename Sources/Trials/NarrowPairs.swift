import SchemaSQLite

extension Value {
  /// Pairs of values of the same type with a small difference, each with a third value.
  var narrowPairs: [(Value, Value, Value)] {
    switch self {
    case .integer:
      [
        (8_200_001, 8_200_002, 9_300_000), (8_200_002, 8_200_003, 9_300_000),
        (8_200_001, 1_099_519_827_777, 9_300_000), (8_200_001, 9_200_001, 8_200_777),
        (8_200_001, -8_200_001, -9_300_000), (-8_200_001, -9_200_001, 8_200_777),
      ]
    case .real:
      [
        (.real(7.1), .real(7.35), .real(42.5)),
        (.real(7.25), .real(-7.25), .real(42.5)),
        // Floating-point: 4.35 * 100 is less than 435.
        (.real(4.35), .real(4.34), .real(42.5)),
      ]
    case .text:
      [
        ("007", "7", "9300000"), ("Zebra abc", "ZEBRA ABC", "Yak"),
        ("Zebra ", "Zebra", "Yak"), (" Zebra", "Zebra", "Yak"), ("Zebra", "Xebra", "Yak"),
        ("Ze\nbra", "Ze bra", "Yak"), ("Ze\nbra", "Zebra", "Yak"),
      ]
    case .blob:
      [
        (
          .blob([UInt8](repeating: 8, count: 300) + [1]),
          .blob([UInt8](repeating: 8, count: 300) + [2]), .blob([9])
        )
      ]
    case .null: []
    }
  }
}
