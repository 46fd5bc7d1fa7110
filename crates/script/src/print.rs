//! The printer: a script as text, one event a line. Reading the text gives the same script.
