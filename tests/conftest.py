"""How often laws are tried: a spread in every test run, many times more with HANDRAIL_SOAK=1."""

import os

from hypothesis import settings

settings.register_profile("usual", max_examples=25)
settings.register_profile("soak", max_examples=400)
settings.load_profile("soak" if os.environ.get("HANDRAIL_SOAK") else "usual")
