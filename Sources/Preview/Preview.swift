/// Previews of `migrate`. The database itself is only read.
///
/// - ``PlanReport``: the statements, their script and cost. ``DryRunReport``: the plan and what the rows answer.
/// - ``Project/rehearse(_:interruption:onEvent:)``: the migrations, run on a copy of the database.
/// - ``TrialCopy``: a copy on which lint tries migrations.
