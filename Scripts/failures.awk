# Filters the output of `swift test`: build errors, failures with all their lines, reports of a sanitizer, and the
# totals. Names and arguments of tests may contain line feeds: a line without a mark continues the previous line.
BEGIN { shown = 1 }
/^(✔|✘) Test run / { shown = 1 }
/^◇ / || /^➜ / || (/^✔ / && !/^✔ Test run /) || /^\[[0-9]+\/[0-9]+\] / { shown = 0 }
/^==[0-9]+==ERROR: / || /^WARNING: ThreadSanitizer: / { shown = 1 }
/^✘ / || /^error: / || /^[^ ]+:[0-9]+(:[0-9]+)?: (error|warning|Fatal error): / || /Fatal error: / {
  shown = 1
}
shown
