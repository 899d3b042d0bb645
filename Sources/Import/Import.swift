/// Reads histories of other tools and writes them as manifests.
///
/// - ``ImportTool`` lists the tools, recognises them by their files, and names the reader of each.
/// - ``ForeignHistory`` holds the migrations of another tool, in order, and notes on everything that is not
///   imported.
/// - ``ImportedHistory`` holds the manifests, after a check that they have the same effect as the other
///   tool's files.

import SchemaSQLText
