"""The words by which names are judged: participles, verbs that look like participles, nouns that look like gerunds."""

IRREGULAR = frozenset(
    {
        *("became", "began", "begun", "bent", "born", "bought", "bound", "broken", "brought", "built", "came"),
        *("caught", "chosen", "dealt", "did", "done", "drawn", "drew", "driven", "eaten", "fallen", "fed"),
        *("fell", "felt", "forgotten", "found", "frozen", "gave", "given", "gone", "got", "grew", "grown"),
        *("had", "heard", "held", "hidden", "kept", "knew", "known", "laid", "led", "left", "lent", "lost"),
        *("made", "meant", "met", "paid", "ridden", "risen", "rose", "said", "saw", "seen", "sent", "shown"),
        *("shrunk", "sold", "spent", "spoke", "spoken", "stolen", "stood", "struck", "sung", "sunk", "swept"),
        *("sworn", "taken", "taught", "thought", "threw", "thrown", "told", "took", "torn", "understood"),
        *("went", "were", "woken", "won", "worn", "wound", "written", "wrote"),
    }
)
"""Past participles and past tenses that do not end in -ed. One that is also an imperative (`read`, `set`, `put`, `cut`,
`run`, `split`, `let`, `hit`, `shut`, `spread`) is a verb."""

VERBS_IN_ED = frozenset(
    {"bleed", "breed", "embed", "exceed", "feed", "heed", "need", "proceed", "seed", "shed", "speed", "succeed", "weed"}
)
OTHERS_IN_ED = frozenset({"bed", "indeed", "red"})

PARTICLES = frozenset(
    {"as", "at", "by", "down", "for", "from", "in", "into", "off", "on", "out", "over", "to", "up", "with"}
)
"""What may follow a participle without making a noun of it."""

NOUNS_IN_ING = {
    "authoring": "the package's established name, the noun for writing workflows",
    "finding": "a noun: what a review found",
    "heading": "a noun: the title of a section",
    "listing": "a noun: a list as it is shown",
    "string": "a noun",
    "testing": "what Python packages call the part that others test with",
    "warning": "a noun: a kind of message",
    "wiring": "the package's established name, a noun for how parts are connected",
}
"""Words that may end the name of a module, each with the reason."""


def is_participle(word: str) -> bool:
    """Tell whether a word is a past participle or a past tense rather than an imperative."""
    if word in VERBS_IN_ED or word in OTHERS_IN_ED:
        return False
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 3)


def is_gerund(word: str) -> bool:
    """Tell whether a word is a verb in -ing rather than a noun."""
    return word.endswith("ing") and len(word) > 4 and word not in NOUNS_IN_ING
