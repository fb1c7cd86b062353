"""Surfaces for programs: what connected agents call over the Model Context Protocol."""
