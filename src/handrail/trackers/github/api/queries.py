"""What only GraphQL can do: drafts, review threads, automatic merges, and which issues a pull request closes."""

VIEWER = "query Viewer { viewer { login } }"

PULL_REQUEST = """query PullRequest($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      mergeable
      closingIssuesReferences(first: 50) { nodes { number repository { nameWithOwner } } }
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id
          isResolved
          isOutdated
          path
          line
          comments(first: 50) {
            nodes { databaseId body createdAt updatedAt url author { __typename login } }
          }
        }
      }
    }
  }
}"""

OPEN_WORK = """query OpenWork($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(states: [OPEN], first: 100) {
      nodes {
        number
        author { login }
        closingIssuesReferences(first: 20) { nodes { number repository { nameWithOwner } } }
      }
    }
  }
}"""

MARK_READY = """mutation MarkReady($id: ID!) {
  markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { id isDraft } }
}"""

MARK_DRAFT = """mutation MarkDraft($id: ID!) {
  convertPullRequestToDraft(input: { pullRequestId: $id }) { pullRequest { id isDraft } }
}"""

AUTO_MERGE = """mutation AutoMerge($id: ID!) {
  enablePullRequestAutoMerge(input: { pullRequestId: $id }) { pullRequest { id } }
}"""
