import SchemaDiagram
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaTimeline

extension Page {
  var hasDrafts: Bool { chronicle.entries.contains { !$0.isFrozen } }

  /// The drafts with their changes. They precede the timeline, because reviewers look for them.
  var draftSection: HTML {
    let drafts = chronicle.entries.indices.filter { !chronicle.entries[$0].isFrozen }
    guard !drafts.isEmpty else { return "" }
    let release = chronicle.stops.last { $0.count <= (drafts.first ?? 0) }
    let since: HTML = release.map { " since \($0.name)" } ?? ""
    let shown = drafts.suffix(20)
    let rest = drafts.count - shown.count
    let more: HTML =
      rest > 0 ? "<p>\(rest) earlier drafts are in the <a href=\"#timeline\">timeline</a>.</p>" : ""
    return """
      <section id="drafts"><h2>Drafts</h2>
      <p>Migrations that are not released\(since). They may still change.</p>\(more)
      <ul class="drafts">\(shown.map { index -> HTML in
        "<li>\(link(toMigration: chronicle.entries[index].migration.id))\(describe(index))\(changeList(index))</li>"
      }.joined())</ul></section>

      """
  }

  /// The migrations, grouped by release, with the latest ones first.
  var timelineSection: HTML {
    var groups: [(name: String, anchor: String, indices: [Int])] = []
    for index in chronicle.entries.indices {
      let entry = chronicle.entries[index]
      let name = entry.release ?? (entry.isFrozen ? "Frozen without a release" : "Drafts")
      if groups.last?.name == name {
        groups[groups.count - 1].indices.append(index)
      } else {
        groups.append((name, "", [index]))
      }
    }
    let sections = groups.reversed().enumerated().map { place, group -> HTML in
      let items = group.indices.reversed().map(entry)
      let count = group.indices.count
      return """
        <details class="release"\(HTML(trusted: place < 3 ? " open" : ""))><summary><h3>\(group.name)</h3> \
        <small>\(count) migration\(count == 1 ? "" : "s")</small></summary>
        <ol reversed>\(items.joined())</ol></details>

        """
    }
    return "<section id=\"timeline\"><h2>Timeline</h2>\n\(sections.joined())</section>\n"
  }

  private func entry(_ index: Int) -> HTML {
    let entry = chronicle.entries[index]
    let state = entry.isFrozen ? "frozen" : "draft"
    let acceptances = entry.acceptances.map { acceptance -> HTML in
      "<p class=\"accepted\">An accepted edit after the release: \(acceptance.reason)</p>"
    }
    return """
      <li class="entry \(state)" id="m-\(entry.number.anchor)"><h4>\(entry.migration.id)</h4>\
      \(describe(index))\(acceptances.joined())\(changeList(index))</li>

      """
  }

  private func describe(_ index: Int) -> HTML {
    let manifest = chronicle.entries[index].migration.manifest
    var names: [(name: String, count: Int)] = []
    for operation in manifest.operations {
      if let place = names.firstIndex(where: { $0.name == operation.name }) {
        names[place].count += 1
      } else {
        names.append((operation.name, 1))
      }
    }
    let operations = names.map { $0.count == 1 ? $0.name : "\($0.name) × \($0.count)" }
    let description: HTML =
      manifest.description.map { "<p class=\"description\">\(lines: $0)</p>" } ?? ""
    return "\(description)<p class=\"operations\">\(operations.joined(separator: ", "))</p>"
  }

  private func changeList(_ index: Int) -> HTML {
    guard index < chronicle.replayed else {
      return "<p class=\"none\">schemactl did not replay it.</p>"
    }
    let changes = changes(at: index)
    guard !changes.isEmpty else { return "<p class=\"none\">The schema stays the same.</p>" }
    let items = changes.map { mark, text -> HTML in
      "<li class=\"\(mark.rawValue)\"><span>\(mark.rawValue)</span> \(text)</li>"
    }
    let (shown, rest) = (items.prefix(12), items.dropFirst(12))
    let more: HTML =
      rest.isEmpty
      ? ""
      : "<details><summary>\(rest.count) more</summary><ul class=\"changes\">\(rest.joined())</ul></details>"
    return "<ul class=\"changes\">\(shown.joined())</ul>\(more)"
  }

  /// Returns the changes of the schema by a migration.
  private func changes(at step: Int) -> [(mark: Mark, text: HTML)] {
    var changes: [(mark: Mark, text: HTML)] = []
    for index in tablesByStep[step] ?? [] {
      let table = chronicle.tables[index]
      let name: HTML = "<a href=\"#\(tableAnchors[index])\"><code>\(table.name)</code></a>"
      if table.life.from == step {
        let former: HTML = table.formerName.map { ", before <code>\($0)</code>" } ?? ""
        changes.append((table.formerName == nil ? .new : .changed, "table \(name)\(former)"))
        continue
      }
      if table.life.until == step {
        if successor(of: table) == nil { changes.append((.dropped, "table \(name)")) }
        continue
      }
      changes += table.parts.compactMap { change(of: $0, name, at: step) }
    }
    return changes + chronicle.views.compactMap { change(of: $0, "", at: step) }
  }

  /// Describes a change of a part by a migration; nil if the migration does not change it.
  ///
  /// - Parameter table: the link to the table of the part.
  private func change(of part: Part, _ table: HTML, at step: Int) -> (mark: Mark, text: HTML)? {
    if part.life.from == step {
      let place: HTML = part.replaced.map { ", in place of <code>\($0)</code>" } ?? ""
      return (part.isChange ? .changed : .new, "\(words(part, table))\(place)")
    }
    return part.life.until == step && !part.hasSuccessor ? (.dropped, words(part, table)) : nil
  }

  private func words(_ part: Part, _ table: HTML) -> HTML {
    switch part.content {
    case .column(let column): "column \(table).<code>\(column.name)</code> \(column.type)"
    case .foreignKey(let key):
      "foreign key \(table).<code>\(key.columns.joined(separator: ", "))</code> → <code>\(key.table)</code>"
    case .constraint(let text): "constraint of \(table): <code>\(text)</code>"
    case .index(let index): "index <code>\(index.name)</code> of \(table)"
    case .trigger(let trigger): "trigger <code>\(trigger.name)</code> of \(table)"
    case .view(let view): "view <code>\(view.name)</code>"
    }
  }
}
