"""Tables, plots and reports from Trigram's result folders. Reads files only; runs nothing."""
