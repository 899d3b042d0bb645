/// YAML files that people write: libyaml's events become a tree with positions.
///
/// - ``decodeManifest(_:file:)``, ``decodeConfiguration(_:file:)``: one file.
/// - ``Project/load(migrations:application:ignoring:readingLock:explaining:)``: a folder of manifests and its
///   lock.
/// - ``JSONSchema``: the grammar in a form for editors.
/// - ``WrittenOperation``: an operation as text.
