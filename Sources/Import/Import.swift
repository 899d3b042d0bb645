/// Histories of other tools, read into manifests.
///
/// - ``ImportTool``: the tools, how each is recognised, and what reads it.
/// - ``ForeignHistory``: what was read: the migrations in order, and all that is not imported.
/// - ``ImportedHistory``: the manifests, and the proof that they do what the other tool's files do.

import SchemaSQLText
