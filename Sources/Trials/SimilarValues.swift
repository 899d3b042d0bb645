import SchemaSQLite

extension Value {
  /// Values of the same type. Some differ only slightly.
  var similar: [Value] {
    switch self {
    case .integer:
      [
        8_200_001, 8_200_002, 8_200_003, 9_300_000, 9_200_001, 8_200_777, 1_099_519_827_777,
        -8_200_001, -9_200_001, -9_300_000,
      ]
    // Floating-point: 4.35 * 100 is less than 435.
    case .real: [7.1, 7.35, 42.5, 7.25, -7.25, -7.5, 4.35, 4.34].map(Value.real)
    case .text:
      [
        "007", "7", "K", "9300000", "Zebra abc", "ZEBRA ABC", "Zebra ", "Zebra", " Zebra", "Xebra",
        "Ze\nbra", "Ze bra",
      ]
        + [11_000, 2000, 200, 90, 45, 18].flatMap { length in
          ["a", "b"].map { Self.text(length, $0) }
        }
    case .blob:
      [11_000, 300].flatMap { length in
        [[1], [2]].map { .blob([UInt8](repeating: 8, count: length) + $0) }
      } + [.blob([9])]
    case .null: []
    }
  }

  private static func text(_ length: Int, _ end: String) -> Value {
    .text(String(repeating: "Zebra", count: length / 5 + 1).prefix(length - 1) + end)
  }

  /// Values in formats that marks do not have, such as dates and JSON. Some values of a format differ
  /// only in a part.
  static let formats: [[Value]] = [
    [
      "2026-01-02 03:04:05", "2026-01-02 23:14:45", "2027-06-07 08:09:10", "2026-01-02 03:04:45",
      "2027-06-07 03:04:05",
    ],
    ["{\"a\": 1, \"b\": 1}", "{\"a\": 1, \"b\": 2}", "{\"a\": 2, \"b\": 1}"],
    ["[2]", "[2, 3]", "[3]", "[4]"], ["{\"a\": 1}", "[2]"],
    ["2026-01-02T03:04:05Z", "2027-06-07T08:09:10Z"],
  ]
}
