/// An operation and a schema become statements.
///
/// - ``Planner``: plans an operation for a schema; each plan has run on a scratch schema before.
/// - ``OperationPlan``: the steps, the questions about rows before them, and the cost.
/// - ``Rewrite``: the one way in which a table's rows are all written.
/// - ``Application``: the functions and collations that the schema may call.
