import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.authoring.importers.cyrus.typescript import Declarations, read_declarations
from handrail.authoring.importers.cyrus.typescript_tokens import MAX_BYTES
from handrail.model.source import SourceText, plain


def _read(text: str) -> Declarations:
    return read_declarations(SourceText("workflow.ts", text))


def _constants(text: str) -> dict[str, object]:
    return {name: plain(node) for name, node in _read(text).constants.items()}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a'", "a"),
        ('"a\\n\\u0041\\x41\\u{1F600}"', "a\nAA😀"),
        ("`a\nb`", "a\nb"),
        ("12", 12),
        ("-1_000.5", -1000.5),
        ("true", True),
        ("undefined", None),
        ("[1, 2,]", [1, 2]),
        ("{a: 1, 'b-c': [], 3: {},}", {"a": 1, "b-c": [], "3": {}}),
        ("('a' as const)", "a"),
        ("{a: 1} as Foo<Bar[]>", {"a": 1}),
        ("[] satisfies string[]", []),
        ("{ // note\n a: /* b */ 1 }", {"a": 1}),
    ],
)
def test_literals_are_read(text: str, value: object) -> None:
    assert _constants(f"const X: Some<Type, {{a: string}}> = {text};\n") == {"X": value}


def test_constants_refer_to_earlier_ones() -> None:
    text = "const A = {x: {y: 1}, z: [1]}\nconst B = [A.x, A['x'].y, ...A.z]\nexport const C = {...A.x, A}\n"
    found = _constants(text)
    assert found["B"] == [{"y": 1}, 1, 1]
    assert found["C"] == {"y": 1, "A": {"x": {"y": 1}, "z": [1]}}


@pytest.mark.parametrize(
    "text",
    ["f(1)", "a ? b : c", "`x${y}`", "1 + 2", "new Date()", "unknown", "{a() { return 1 }}", "[x => 1]", "/re/", "A.b"],
)
def test_what_is_not_plain_data_is_refused(text: str) -> None:
    declared = _read(f"const X = {text};\nconst Y = 1;\n")
    assert "X" not in declared.constants
    assert plain(declared.constants["Y"]) == 1
    assert declared.problems


@pytest.mark.parametrize(
    "text",
    [
        "export function resolve() { return P }",
        "export async function resolve(c: C): Promise<P> {\n // x\n return P;\n}",
        "export const resolve = () => P",
        "export const resolve: Hook = async (context: {a: string}) => { return P; };",
        "function resolve() { return {name: 'p'}; }",
        "export const resolve = () => ({name: 'p'})",
    ],
)
def test_resolve_that_returns_a_constant_is_data(text: str) -> None:
    declared = _read("const P = {name: 'p'};\n" + text)
    assert declared.resolve_at is None
    assert declared.resolved is not None
    assert plain(declared.resolved) == {"name": "p"}


@pytest.mark.parametrize(
    "text",
    [
        "function resolve(c) {\n if (c) { return 1 }\n return P; }",
        "function resolve(c) {\n return {...P, at: Date.now()}; }",
        "const resolve = (c) =>\n c.labels.map(x => x)",
        "function resolve(c) {\n console.log(c); return P; }",
    ],
)
def test_resolve_with_logic_is_marked_at_its_line(text: str) -> None:
    source = SourceText("workflow.ts", "const P = {name: 'p'};\n" + text)
    declared = read_declarations(source)
    assert declared.resolve_at is not None
    assert source.position(declared.resolve_at).line == 3


def test_a_file_that_is_too_large_is_refused() -> None:
    assert _read(" " * (MAX_BYTES + 1)).problems


def test_nesting_is_bounded() -> None:
    assert _read("const X = " + "[" * 5000 + "]" * 5000).problems


@given(st.text(alphabet="const X={}[]().,:;=>'\"`$/*\\\n returnfuctiolv123-as", max_size=80))
def test_no_text_crashes_the_reader(text: str) -> None:
    inside = "const P = {a: 1};\nfunction resolve() {" + text
    alone, declared = _read(text), _read(inside)
    assert all(0 <= problem.at <= len(inside) for problem in (*alone.problems, *declared.problems))
    assert declared.problems or plain(declared.constants["P"]) == {"a": 1}


def test_spreads_of_spreads_are_bounded() -> None:
    doubled = "".join(f"const A{n + 1} = [...A{n}, ...A{n}];\n" for n in range(40))
    assert _read("const A0 = [1, 2];\n" + doubled).problems


def test_a_comment_that_is_never_closed_ends_the_file() -> None:
    assert _constants("const X = 1;\n" + "/* " * 50_000) == {"X": 1}
