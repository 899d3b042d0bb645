import SchemaDiagram
import SchemaModel
import SchemaSQLText
import SchemaTimeline

// The tables and views with all their definitions. The script hides the definitions that the selected release
// does not have.

extension Page {
  var schemaSection: HTML {
    let order = chronicle.tables.indices.sorted { a, b in
      chronicle.tables[a].name.identifier < chronicle.tables[b].name.identifier
    }
    let index = order.map { index -> HTML in
      let table = chronicle.tables[index]
      return "<li\(life(table.life))><a href=\"#\(tableAnchors[index])\">\(table.name)</a></li>"
    }
    let views = chronicle.views.compactMap { part -> (part: Part, view: SchemaObject)? in
      if case .view(let view) = part.content { (part, view) } else { nil }
    }
    // Only the current definition of a view has an anchor.
    let viewIndex = views.filter { !$0.part.life.isOver }.map { part, view -> HTML in
      "<li\(life(part.life))><a href=\"#v-\(view.name.anchor)\">\(view.name)</a></li>"
    }
    return """
      <section id="schema"><h2>Schema</h2>
      \(slider)
      <div class="split">
      <nav class="index" aria-label="Tables and views"><ul>\(index.joined())\(viewIndex.joined())</ul></nav>
      <div class="tables">
      \(order.map(article).joined())\(views.map { article($0.view, $0.part) }.joined())
      </div></div></section>

      """
  }

  private var slider: HTML {
    let stops = chronicle.stops.map { "\($0.count):\($0.name)" }
    let numbers = chronicle.entries.prefix(chronicle.replayed).map(\.number)
    // Names of releases do not contain these characters (`isReleaseName`).
    let bases = chronicle.stops.dropLast().map { stop -> HTML in
      "<option value=\"\(stop.count)\">\(stop.name)</option>"
    }
    let kinds: HTML =
      chronicle.stops.count > 1
      ? """
      <label><input type="radio" name="unit" value="r" checked> releases</label>
      <label><input type="radio" name="unit" value="m"> migrations</label>
      """
      : ""
    return """
      <div class="js slider" hidden data-stops="\(stops.joined(separator: "|"))" \
      data-numbers="\(numbers.joined(separator: "|"))">
      <label for="at">Schema at</label>
      <input id="at" type="range" min="0" max="\(max(chronicle.stops.count - 1, 0))" step="1">
      <output for="at" id="where"></output>
      <fieldset><legend class="vh">The slider moves between</legend>\(kinds)</fieldset>
      <label>compared with <select id="base"><option value="p">the previous release</option>\
      <option value="n">nothing</option><option value="0">an empty database</option>\(bases.joined())\
      </select></label>
      <label><input type="checkbox" id="only"> only differences</label>
      <p id="summary" role="status"></p>
      </div>
      """
  }

  /// Returns the attributes that the script uses to select visible parts: the migrations that begin and end
  /// the lifetime.
  func life(_ life: Lifetime) -> HTML {
    let end: HTML = life.until.map { " data-u=\"\($0)\" hidden" } ?? ""
    return " data-f=\"\(life.from)\"\(end)"
  }

  /// Returns no attributes for a part with the same lifetime as its table.
  private func attributes(of part: Part, in table: TableLifetime? = nil) -> HTML {
    part.life == table?.life ? "" : attributes(part.life, part.since, part.hasSuccessor)
  }

  private func attributes(_ life: Lifetime, _ since: Int, _ hasSuccessor: Bool) -> HTML {
    let origin: HTML = since < life.from ? " data-s=\"\(since)\"" : ""
    return "\(self.life(life))\(origin)\(HTML(trusted: hasSuccessor ? " data-n" : ""))"
  }

  /// Returns the story of the same table under its next name.
  func successor(of table: TableLifetime) -> TableLifetime? {
    guard let end = table.life.until else { return nil }
    return chronicle.tables.first { $0.life.from == end && $0.formerName == table.name }
  }

  private func article(_ index: Int) -> HTML {
    let table = chronicle.tables[index]
    let rows = table.columns.map { part, column -> HTML in row(column, part, of: table) }
    let former: HTML =
      table.formerName.map {
        ", renamed from <code>\($0)</code> in \(link(toMigration: table.life.from))"
      }
      ?? ""
    let successor = successor(of: table)
    let end: HTML =
      table.life.until.map { step in
        let verb: HTML = successor.map { "renamed to \(link(toTable: $0.name))" } ?? "dropped"
        return ", \(verb) in \(link(toMigration: step))"
      } ?? ""
    let options: HTML = table.options.isEmpty ? "" : " · \(table.options.joined(separator: ", "))"
    let added = link(toMigration: table.since)
    return """
      <article id="\(tableAnchors[index])"\(attributes(table.life, table.since, successor != nil))>
      <h3>\(table.name)</h3>
      <p class="meta">Added in \(added)\(former)\(end)\(options)</p>
      <div class="scroll"><table><thead><tr><th scope="col">Column</th><th scope="col">Type</th>\
      <th scope="col">Constraints</th><th scope="col">Added in</th></tr></thead>
      <tbody>\(rows.joined())</tbody></table></div>
      \(group("Foreign keys", of: table))\(group("Referred to by", references(to: index)))\
      \(group("Constraints", of: table))\(group("Indexes", of: table))\
      \(group("Triggers", of: table))\(usesGroup(of: table))
      <details class="sql"><summary>SQL</summary><pre tabindex="0"><code>\(lines: table.sql)</code></pre></details>
      </article>

      """
  }

  private func row(_ column: ColumnOutline, _ part: Part, of table: TableLifetime) -> HTML {
    var keys = HTML()
    if column.keyPosition > 0 { keys += "<abbr title=\"primary key\">PK</abbr>" }
    let isChild = table.foreignKeys.contains { own, key in
      own.life.overlap(part.life) != nil && key.columns.contains { $0.isSameName(as: column.name) }
    }
    if isChild { keys += "<abbr title=\"foreign key\">FK</abbr>" }
    return """
      <tr\(attributes(of: part, in: table))><th scope="row">\(column.name)\(keys)</th><td>\(column.type)</td>\
      <td>\(column.constraints.joined(separator: " · "))</td><td>\(origin(part))</td></tr>

      """
  }

  /// Returns text such as `0001, changed in 0004`.
  private func origin(_ part: Part) -> HTML {
    let first = link(toMigration: part.since)
    if part.isChange {
      return "\(first), changed in \(link(toMigration: part.changed))"
    }
    return part.replaced.map { "\(first), in place of <code>\($0)</code>" } ?? first
  }

  private func item(_ part: Part, _ text: HTML, of table: TableLifetime) -> HTML {
    "<li\(attributes(of: part, in: table))>\(text) <small>\(origin(part))</small></li>"
  }

  private func group(_ title: HTML, _ items: [(isHidden: Bool, html: HTML)]) -> HTML {
    guard !items.isEmpty else { return "" }
    let isHidden = items.allSatisfy(\.isHidden)
    return """
      <section class="group"\(HTML(trusted: isHidden ? " hidden" : ""))><h4>\(title)</h4>\
      <ul>\(items.map(\.html).joined())</ul></section>

      """
  }

  private func references(to index: Int) -> [(isHidden: Bool, html: HTML)] {
    let table = chronicle.tables[index]
    return chronicle.tables.flatMap { child in
      child.foreignKeys.compactMap { part, key -> (isHidden: Bool, html: HTML)? in
        guard key.table.isSameName(as: table.name), let common = part.life.overlap(table.life)
        else { return nil }
        let columns = key.columns.joined(separator: ", ")
        let since = link(toMigration: part.since)
        let isWhole = common == table.life
        return (
          common.isOver && !isWhole,
          "<li\(isWhole ? "" : life(common))>\(link(toTable: child.name)).<code>\(columns)</code> <small>\(since)</small></li>"
        )
      }
    }
  }

  private func group(_ title: HTML, of table: TableLifetime) -> HTML {
    group(
      title,
      table.parts.compactMap { part in
        description(of: part.content).flatMap { group, text in
          group.text == title.text
            ? (part.life.isOver && part.life != table.life, item(part, text, of: table)) : nil
        }
      })
  }

  /// Returns the group of a part and its description; nil for a column and for a view.
  private func description(of content: Part.Content) -> (group: HTML, text: HTML)? {
    switch content {
    case .column, .view: return nil
    case .foreignKey(let key):
      let columns = key.columns.joined(separator: ", ")
      let parents =
        key.parentColumns.isEmpty ? "" : "(\(key.parentColumns.joined(separator: ", ")))"
      return (
        "Foreign keys",
        "<code>\(columns)</code> → \(link(toTable: key.table))\(parents)\(key.actions)"
      )
    case .constraint(let text): return ("Constraints", "<code>\(text)</code>")
    case .index(let index):
      let columns = index.columns.map { $0 ?? "expression" }.joined(separator: ", ")
      let kind = (index.isUnique ? "unique " : "") + (index.isPartial ? "partial " : "")
      return (
        "Indexes", details("\(kind)<code>\(index.name)</code> on \(columns)", index.sql ?? "")
      )
    case .trigger(let trigger):
      return ("Triggers", details("<code>\(trigger.name)</code>", trigger.sql ?? ""))
    }
  }

  private func details(_ summary: HTML, _ sql: String) -> HTML {
    """
    <details><summary>\(summary)</summary>\
    <pre tabindex="0"><code>\(lines: sql)</code></pre></details>
    """
  }

  /// Lists the views and triggers that use the table in the latest schema.
  private func usesGroup(of table: TableLifetime) -> HTML {
    let own = Set(
      table.parts.compactMap { part -> Identifier? in
        if case .trigger(let trigger) = part.content { trigger.name.identifier } else { nil }
      })
    let users = (uses.users[table.name] ?? []).filter { !own.contains($0.name) }
    guard !table.life.isOver, !users.isEmpty else { return "" }
    let items = users.map { use -> HTML in
      use.kind == .view
        ? "<li>view <a href=\"#v-\(use.name.text.anchor)\"><code>\(use.name.text)</code></a></li>"
        : "<li>trigger <code>\(use.name.text)</code>\(holder(ofTrigger: use.name))</li>"
    }
    return "<section class=\"group\"><h4>Used by</h4><ul>\(items.joined())</ul></section>\n"
  }

  private func holder(ofTrigger name: Identifier) -> HTML {
    let trigger = chronicle.schema.object(.trigger, name)
    return trigger.map { " of \(link(toTable: $0.table))" } ?? ""
  }

  private func article(_ view: SchemaObject, _ part: Part) -> HTML {
    let isLatest = !part.life.isOver
    let id: HTML = isLatest ? " id=\"v-\(view.name.anchor)\"" : ""
    let reads = uses.users.filter {
      $0.value.contains(SchemaDelta.Key(.view, view.name.identifier))
    }
    let tables = reads.keys.sorted().map { link(toTable: $0.text) }
    let list: HTML =
      tables.isEmpty || !isLatest ? "" : "<p>Reads \(tables.joined(separator: ", ")).</p>"
    return """
      <article class="view"\(id)\(attributes(of: part))><h3>\(view.name)</h3>
      <p class="meta">View, added in \(origin(part))</p>\(list)
      <pre tabindex="0"><code>\(lines: view.sql ?? "")</code></pre></article>

      """
  }
}
