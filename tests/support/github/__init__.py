"""A double of GitHub on this machine, for tests that let real processes talk to it.

It is a real HTTP server on a free port of 127.0.0.1, in a thread of the test process: the REST API below `/api/v3` and
at the root, GraphQL at `/api/graphql` and `/graphql`, and git below `/OWNER/NAME.git` on a real bare repository.
Whatever concerns commits (head shas, mergeability, diffs, merge commits) is git's own answer. Every request is checked
against GitHub's OpenAPI description, unknown fields are refused, and a call that GitHub does not have fails the test.

How to write a test with it. In the conftest of the folder:

    from support.github.fixtures import github, github_server

    __all__ = ["github", "github_server"]

In the test:

    def test_a_second_pull_request_is_not_opened(github: GitHubDouble, tmp_path: Path) -> None:
        github.new_repository({"app.py": "print(1)\\n"})  # the files of its main branch; now github.repository
        ann = github.person("ann", "write")  # or "read", "admin"; "ci[bot]" is a bot
        number = ann.open_issue("It crashes", "Steps: ...", ["bug"])
        github.fail("POST */pulls", "502 after effect")  # the first such call; nth=2 means the second
        ...  # let the program work with github.environment()
        assert len(github.pulls()) == 1
        assert github.journal.count("POST */pulls") == 1

- Where it is: `github.api_url` for GITHUB_API_URL (`github.url` works too), `github.host` in names of repositories,
  `github.clone_url()` for git, `github.token` of the account `handrail-user` (`double.USER`), who has write permission.
  `github.environment()` has all of that for a child process, with credentials for git.
- People: `person(...)` returns somebody who can `open_issue`, `comment`, `edit_comment`, `label`, `close`, `reopen`,
  `push`, `force_push`, `delete_branch`, `open_pull`, `review`, `merge`; `call` makes any other call. What they do meets
  no fault and is in no journal. `github.me` is the program's own account.
- Checks: `report_check(sha, "ci", "failure", log="...")`, queued without a conclusion; `report_status(sha, "lint",
  "success")`. `repository.checks_on_push = ["ci"]` queues checks for each push; a push with a `ghs_` token starts none.
  `repository.required_checks = ["ci"]` blocks merging until they passed, which is when auto-merge can be enabled.
- Tokens: `new_token(scopes=("repo",))` may not push workflows, `new_token("github-actions[bot]", "ghs_")` is that of
  Actions, `new_token(may_write=False)` only reads; `environment(token)` uses one.
- Faults: `fail(PATTERN, HOW, nth=1, times=1, retry_after=1)`; HOW is one of `faults.How`: "502 before", "502 after
  effect", "cut before", "cut after effect", "timeout" (after the effect; the caller ends it), "timeout before",
  "secondary limit", "secondary limit 429", "primary limit", "primary limit 429", "401", "403", "404", and for lists
  "duplicated" and "reordered". A pattern is a label of the journal, with `*` for anything:
  `POST /repos/acme/shop/pulls`, `GRAPHQL markPullRequestReadyForReview`, `GIT push acme/shop`, `GIT fetch *`.
  The fault that `fail` returns counts what it `struck`; `done.wait(60)` waits for it when the caller gave up before.
- Journal: `github.journal.calls(PATTERN)`, `writes(PATTERN)`, `count(PATTERN)`; entries have label, body, author,
  headers, status, answer and fault. A push has the refs that it moved as its body.
- Looking: `read("/issues/1")`, `pulls()`, `issues()`, `comments(number)`; `repository.git` is the bare repository.
- Delays: `world.search_lag = 3` lets search lag behind by three searches, `world.lazy_mergeability = True` answers null
  at the first look, `advance(seconds)` moves the time of the double. Times have whole seconds, as on GitHub.
- Moves: `rename_repository("new")` answers calls for the old name with 301, or 307 for writes; git follows silently.
- Attachments: `attach("log.txt", b"...")` returns an address for the text of an issue.
- A test that wants to be refused for a malformed call ends with `github.take_problems()`.
"""
