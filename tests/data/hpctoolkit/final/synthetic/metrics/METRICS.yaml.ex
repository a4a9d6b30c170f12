# How viewers present the metrics of a database: an example. The file that is used is default.yaml.
version: 0
# Statistics of the summary profile in profile.db. Each is found in meta.db by these four.
inputs:
  - &time-execution
    metric: time (s)
    scope: execution   # the context and all below it
    formula: $$        # of the value of one profile: $$, 1 or ($$^2)
    combine: sum       # over profiles: sum, min or max
  - &time-function
    metric: time (s)
    scope: function    # what is inside the function itself
    formula: $$
    combine: sum
  - &time-lex_aware
    metric: time (s)
    scope: lex_aware   # the same; of a loop without the loops inside
    formula: $$
    combine: sum
# Metrics as they are shown. A metric may have children, which are metrics too.
roots:
  - name: time (s)
    description: Seconds of processor time.
    visible by default: true
    variants:
      Sum:
        render: [number, percent]
        formula:
          inclusive:
            standard: *time-execution
          exclusive:
            custom: *time-lex_aware
            standard: *time-function
      Minutes:
        render: [number]
        format: "%.2f"
        formula:
          inclusive:
            standard: {"/": [*time-execution, 60]}   # an operator, and what it is applied to
          exclusive:
            standard: {"/": [*time-function, 60]}
