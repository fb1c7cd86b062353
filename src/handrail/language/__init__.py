"""The one small expression and template language: total, bounded, exact to the column."""
