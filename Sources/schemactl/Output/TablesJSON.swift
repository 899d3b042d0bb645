import SchemaAuthoring
import SchemaYAML

extension TableDescription: JSONConvertible {
  package var json: JSON {
    let columns = columns.map { column -> JSON in
      [
        "name": column.name, "type": column.type, "nullable": column.isNullable,
        "default": column.defaultSQL, "generated": column.isGenerated,
      ]
    }
    let keys = foreignKeys.map { key -> JSON in
      [
        "columns": key.columns, "table": key.table, "parentColumns": key.parentColumns,
        "onDelete": key.onDelete, "onUpdate": key.onUpdate,
      ]
    }
    return [
      "name": name, "kind": isView ? "view" : "table", "strict": isStrict, "columns": columns,
      "primaryKey": primaryKey, "unique": unique, "foreignKeys": keys,
    ]
  }
}
