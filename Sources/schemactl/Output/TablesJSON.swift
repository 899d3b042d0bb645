import SchemaAuthoring
import SchemaInspect
import SchemaYAML

extension TableDescription {
  package var json: JSON {
    .object([
      ("name", .string(name)), ("kind", .string(isView ? "view" : "table")),
      ("strict", .bool(isStrict)),
      (
        "columns",
        .array(
          columns.map { column in
            .object([
              ("name", .string(column.name)), ("type", .string(column.type)),
              ("nullable", .bool(column.isNullable)), ("default", .text(column.defaultSQL)),
              ("generated", .bool(column.isGenerated)),
            ])
          })
      ),
      ("primaryKey", .list(primaryKey)), ("unique", .array(unique.map(JSON.list))),
      (
        "foreignKeys",
        .array(
          foreignKeys.map { key in
            .object([
              ("columns", .list(key.columns)), ("table", .string(key.table)),
              ("parentColumns", .list(key.parentColumns)), ("onDelete", .string(key.onDelete)),
              ("onUpdate", .string(key.onUpdate)),
            ])
          })
      ),
    ])
  }
}
