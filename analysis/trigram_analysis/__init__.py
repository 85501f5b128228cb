"""Makes tables, plots and reports from Trigram's result folders. It only reads files and runs
nothing."""
