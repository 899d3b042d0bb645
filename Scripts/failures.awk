# Of what `swift test` prints: what does not build, failures with all their lines, what a sanitizer has
# found, and the sum.
# A test's name and its arguments may hold line feeds: a line without a mark of its own belongs to
# the one before it.
BEGIN { shown = 1 }
/^(✔|✘) Test run / { shown = 1 }
/^◇ / || /^➜ / || (/^✔ / && !/^✔ Test run /) || /^\[[0-9]+\/[0-9]+\] / { shown = 0 }
/^==[0-9]+==ERROR: / || /^WARNING: ThreadSanitizer: / { shown = 1 }
/^✘ / || /^error: / || /^[^ ]+:[0-9]+(:[0-9]+)?: (error|warning|Fatal error): / || /Fatal error: / {
  shown = 1
}
shown
