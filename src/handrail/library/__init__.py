"""Built-in workflows, prompts, routines, features, references, contracts and assessments: data files."""
