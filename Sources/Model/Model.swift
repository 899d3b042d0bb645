/// The schema of a database as a value.
///
/// - ``Schema``: the objects of `sqlite_schema`, read from a connection.
/// - ``compareSchemas(expected:actual:)``: the difference of two schemas, in the normal form of SQL
///   tokens.
/// - ``SchemaDelta``: the change that a migration made, which can be applied to another schema.
/// - ``RunningFingerprint``: the checksum of a schema's normal form.
