import SchemaDiagram
import SchemaSQLText

/// A piece of HTML. Interpolated strings are escaped. Only literals and other HTML are inserted unchanged.
struct HTML: ExpressibleByStringInterpolation {
  private(set) var text: String

  init(stringLiteral text: String) { self.text = text }

  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  init() { text = "" }

  /// Markup from a trusted source: Graphviz, and the page's own style and script.
  init(trusted text: String) { self.text = text }

  struct Interpolation: StringInterpolationProtocol {
    var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity * 2)
    }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ text: String) { self.text += text.markupText }
    /// Preserves line feeds, for text in a `pre` element.
    mutating func appendInterpolation(lines text: String) { self.text += text.markupLines }
    /// Formats the parts of a message that are in backquotes as code.
    mutating func appendInterpolation(message text: String) {
      let parts = text.split(separator: "`", omittingEmptySubsequences: false)
      guard !parts.count.isMultiple(of: 2) else { return appendInterpolation(text) }
      for (index, part) in parts.enumerated() {
        let text = String(part).markupText
        self.text += index.isMultiple(of: 2) ? text : "<code>\(text)</code>"
      }
    }

    mutating func appendInterpolation(_ number: Int) { text += String(number) }
    mutating func appendInterpolation(_ html: HTML) { text += html.text }
    mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }
  }

  static func += (a: inout HTML, b: HTML) { a.text += b.text }

  static func + (a: HTML, b: HTML) -> HTML { HTML(trusted: a.text + b.text) }
}

extension Sequence<HTML> {
  func joined(separator: HTML = "") -> HTML {
    HTML(trusted: map(\.text).joined(separator: separator.text))
  }
}
