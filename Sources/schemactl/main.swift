print("schemactl")
