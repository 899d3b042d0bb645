/// Rules, findings and suppressions.
///
/// - ``Linter``: replays a history, runs the trials and the rules, and returns a ``LintReport``.
/// - ``Rule``: a rule with its text and its check, one file each in `Rules`; ``Rule/all`` lists
///   them.
/// - ``Suppressions``, ``Baseline``: findings that are not reported.
/// - ``Fixer``: applies corrections to drafts and keeps the corrections that improve lint's report.
/// - ``CheckReport``: the check of a whole project, with lint as one of its parts.
/// - ``explanation(of:)``: the documentation of a rule.
