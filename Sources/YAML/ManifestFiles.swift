import SchemaHistory
import SchemaManifest
import SchemaPlatform
import SchemaSQLText

extension MigrationFolder {
  /// Every manifest, in the order of their numbers. An empty folder is a history without migrations.
  ///
  /// - Parameter twins: explains, by file name, which of several manifests with one number must change.
  package func migrations(
    explaining twins: ([[ManifestName]]) -> [ExactText: String] = Self.renumberOneOf
  ) throws(HistoryReadError) -> [Migration] {
    let names = try manifestNames()
    let groups = Dictionary(grouping: names.filter { $0.problem == nil }) {
      MigrationNumber(id: $0.id)
    }.values.filter { $0.count > 1 }
    let twins = groups.isEmpty ? [:] : twins(groups)
    var migrations: [Migration] = []
    var diagnostics: [Diagnostic] = []
    for name in names {
      let file = joinedPath(path, name.text)
      func report(_ message: String) {
        diagnostics.append(Diagnostic(file: file, message: message))
      }
      if let problem = name.problem {
        report(problem)
        continue
      }
      if let problem = twins[name.text] { report(problem) }
      do {
        let bytes = try readFile(file, inFolder: path, limit: Self.manifestSizeLimit)
        let manifest = try decodeManifest(bytes, file: file)
        migrations.append(Migration(id: name.id, file: file, bytes: bytes, manifest: manifest))
      } catch let error as InvalidInput {
        diagnostics += error.diagnostics
      } catch let error as FileError where error.isOfFile {
        report(error.message)
      } catch let error as FileError {
        // A failure of the system is not a problem of the manifest.
        throw .unreadable(error)
      } catch {
        report("\(error)")
      }
    }
    guard diagnostics.isEmpty else { throw .invalid(InvalidInput(diagnostics)) }
    return migrations.sorted { $0.number < $1.number }
  }

  /// The advice for manifests with one number where nothing else is known about them.
  package static func renumberOneOf(_ groups: [[ManifestName]]) -> [ExactText: String] {
    var problems: [ExactText: String] = [:]
    for names in groups {
      for name in names.dropFirst() {
        problems[name.text] =
          "\(names[0].text) has the number \(MigrationNumber(id: name.id)) too: give one of the two "
          + "another number (`\(rebaseCommand([name.id]))`)"
      }
    }
    return problems
  }
}
