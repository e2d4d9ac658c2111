"""Entry points of the evaluation of a file: functions, classes, scripts, addresses."""
