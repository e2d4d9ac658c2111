"""Where the evaluation of a file begins: functions, classes, scripts, addresses."""
