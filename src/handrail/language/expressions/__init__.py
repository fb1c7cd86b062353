"""Lexer, parser, checker, evaluator, filters."""
