import SchemaAuthoring
import SchemaModel
import SchemaYAML

extension TableDescription: JSONConvertible {
  package var json: JSON {
    let columns = columns.map { column -> JSON in
      [
        "name": column.name, "type": column.type, "nullable": isNullable(column),
        "default": column.defaultText, "generated": column.isGenerated,
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
