/// Random choices. Most of them are equal for two versions of an object.
struct VersionedChoices {
  let seed: UInt64
  /// Whether the choices are for the later version.
  let isLater: Bool
  /// The percentage of choices that the later version makes independently.
  let changes: Int

  func number(_ key: String, below count: Int) -> Int {
    let isAnew = isLater && draw("anew \(key)") % 100 < changes
    return Int(draw(isAnew ? "later \(key)" : key) % UInt64(count))
  }

  func pick<Element>(_ key: String, _ elements: [Element]) -> Element {
    elements[number(key, below: elements.count)]
  }

  func chance(_ key: String, _ percent: Int) -> Bool { number(key, below: 100) < percent }

  /// Shuffles the elements in the same way for both versions.
  func shuffled<Element>(_ key: String, _ elements: [Element]) -> [Element] {
    var generator = SeededGenerator(seed: draw(key))
    return elements.shuffled(using: &generator)
  }

  /// Draws a number that depends only on the seed and the key, so that choices are independent of each other.
  private func draw(_ key: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    var generator = SeededGenerator(seed: hash &+ seed &* 0x9E37_79B9_7F4A_7C15)
    return generator.next()
  }
}
