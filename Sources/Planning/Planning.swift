/// Plans the statements of an operation for a schema.
///
/// - ``Planner``: plans an operation for a schema. Each plan runs on a scratch database first.
/// - ``OperationPlan``: the steps, the questions about rows before them, and the cost.
/// - ``Rewrite``: the only mechanism that writes all rows of a table.
/// - ``Application``: the functions and collations that the schema may call.
