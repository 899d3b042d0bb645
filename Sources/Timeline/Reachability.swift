import SchemaSQLText

/// The elements that can be reached from some elements, including these.
///
/// - Parameter next: the elements that are one step away from an element.
package func reached<Element: Hashable, Next: Sequence<Element>, Problem: Error>(
  from start: some Sequence<Element>, by next: (Element) throws(Problem) -> Next
) throws(Problem) -> Set<Element> {
  var reached: Set<Element> = []
  var open = Array(start)
  while let element = open.popLast() {
    if reached.insert(element).inserted { open += try next(element) }
  }
  return reached
}
