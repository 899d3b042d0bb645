import SchemaModel
import SchemaSQLText

extension Diagram {
  /// Returns the diagram in Graphviz's language. Colours and words mark changes.
  ///
  /// - Parameters:
  ///   - showsAllColumns: whether to draw all columns, and not only keys, foreign keys and changed columns.
  ///   - link: returns the target of a table's link; nil for no link.
  package func dot(
    showsAllColumns: Bool = true, linking link: (String) -> String? = { _ in nil }
  ) -> String {
    var lines = [
      "digraph schema {",
      // `pack` places unconnected tables side by side. Without it, all of them are in one column.
      "  graph [pack=12, rankdir=LR, bgcolor=transparent, nodesep=0.25, ranksep=0.9, pad=0.2];",
      "  node [shape=plain, fontname=\"Helvetica\", fontsize=11, margin=0];",
      "  edge [fontname=\"Helvetica\", fontsize=9, dir=both, arrowsize=0.8];",
    ]
    let used = referencedColumns
    for (index, table) in tables.enumerated() {
      let url =
        link(table.name).map { ", URL=\(quoted($0)), tooltip=\(quoted(table.name.visible))" } ?? ""
      lines.append(
        "  t\(index) [label=<\(label(table, index, used[index], showsAllColumns))>\(url)];")
    }
    lines += references.map { "  " + edge($0) }
    return (lines + ["}"]).map { $0 + "\n" }.joined()
  }

  /// For each table, the columns of foreign keys and the columns to which they refer.
  private var referencedColumns: [Set<Identifier>] {
    var used = [Set<Identifier>](repeating: [], count: tables.count)
    for reference in references {
      used[reference.child].formUnion(reference.key.columns.map(\.identifier))
      used[reference.parent].formUnion(parentColumns(of: reference).map(\.identifier))
    }
    return used
  }

  private func parentColumns(of reference: Reference) -> [String] {
    let named = reference.key.parentColumns
    return named.isEmpty ? tables[reference.parent].outline.primaryKey : named
  }

  private func label(
    _ table: Table, _ index: Int, _ used: Set<Identifier>, _ showsAllColumns: Bool
  ) -> String {
    let style = Style(table.mark)
    let state = missing.contains(table.name) ? " (missing)" : table.mark.suffix
    var rows =
      "<TR><TD PORT=\"t\" BGCOLOR=\"\(style.header)\" COLSPAN=\"2\" ALIGN=\"LEFT\">"
      + "<FONT COLOR=\"\(style.ink)\"><B>\(table.name.labelText)</B>\(state)</FONT></TD></TR>"
    let shown = table.columns.indices.filter { place in
      let (column, mark) = table.columns[place]
      return showsAllColumns || mark != .same || column.keyPosition > 0
        || used.contains(column.name)
    }
    for place in shown {
      let (column, mark) = table.columns[place]
      let style = Style(mark)
      let name = column.name.labelText
      let text =
        (column.keyPosition > 0 ? "<U>\(name)</U>" : name)
        + (table.mark == .same || table.mark == .changed ? mark.suffix : "")
      let paper = mark == .same ? "" : " BGCOLOR=\"\(style.row)\""
      rows +=
        "<TR><TD PORT=\"c\(place)\"\(paper) ALIGN=\"LEFT\">\(colored(text, style.ink))</TD>"
        + "<TD PORT=\"r\(place)\"\(paper) ALIGN=\"LEFT\">"
        + "\(colored(type(of: column), Style.quiet))</TD></TR>"
    }
    let hidden = table.columns.count - shown.count
    if hidden > 0 {
      let text = "\(hidden) more \(hidden == 1 ? "column" : "columns")"
      rows += "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\">\(colored(text, Style.quiet))</TD></TR>"
    }
    return "<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"3\" "
      + "COLOR=\"\(style.border)\" BGCOLOR=\"\(Style(.same).row)\">\(rows)</TABLE>"
  }

  private func colored(_ text: String, _ color: String) -> String {
    "<FONT COLOR=\"\(color)\">\(text)</FONT>"
  }

  private func type(of column: ColumnOutline) -> String {
    (column.type + (column.isNotNull || column.keyPosition > 0 ? "" : "?")).labelText
  }

  private func edge(_ reference: Reference) -> String {
    let style = Style(reference.mark)
    // An edge leaves the parent at the right of its type column, and enters the child at the left of its name
    // column.
    func port(_ table: Int, _ columns: [String], _ letter: String, _ side: String) -> String {
      let place = columns.first.flatMap { name in
        tables[table].columns.firstIndex { $0.column.name.isSameName(as: name) }
      }
      return "t\(table):\(place.map { letter + String($0) } ?? "t"):\(side)"
    }
    let head = reference.isOptional ? "teeodot" : "teetee"
    let tail = reference.isUnique ? "teeodot" : "crowodot"
    let stroke = reference.mark == .dropped ? "dashed" : "solid"
    // Ranks increase from parent to child, so a child is drawn to the right of its parents.
    return "\(port(reference.parent, parentColumns(of: reference), "r", "e")) -> "
      + "\(port(reference.child, reference.key.columns, "c", "w")) [arrowtail=\(head), arrowhead=\(tail), "
      + "color=\"\(style.line)\", style=\(stroke)];"
  }
}

/// The colours of a mark.
private struct Style {
  let header: String
  let row: String
  let border: String
  let ink: String
  let line: String
  static let quiet = "#57606a"

  init(_ mark: Mark) {
    switch mark {
    case .same:
      (header, row, border, ink, line) = ("#dde7f3", "#ffffff", "#8c959f", "#1f2328", "#6e7781")
    case .new:
      (header, row, border, ink, line) = ("#c5efcf", "#e6ffec", "#1a7f37", "#0a3d1a", "#1a7f37")
    case .changed:
      (header, row, border, ink, line) = ("#f7e3a1", "#fff8d6", "#9a6700", "#4d3300", "#9a6700")
    case .dropped:
      (header, row, border, ink, line) = ("#ffd0cc", "#ffebe9", "#cf222e", "#82071e", "#cf222e")
    }
  }
}

extension String {
  /// Graphviz does not accept empty elements.
  fileprivate var labelText: String { isEmpty ? " " : markupText }
}

/// Quotes a string in Graphviz's language. (`replacing` needs macOS 13.)
private func quoted(_ text: String) -> String {
  "\"" + text.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }.joined() + "\""
}
