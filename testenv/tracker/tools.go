package tracker

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	open   = "open"
	closed = "closed"
)

// Schemas are written out because those generated from Go types let every list be null.
const (
	issueSchema = `{"type":"object","properties":{
		"id":{"type":"integer","description":"Number of the issue"},
		"title":{"type":"string"},
		"body":{"type":"string","description":"Description in plain text, may be empty"},
		"state":{"type":"string","enum":["open","closed"]},
		"labels":{"type":"array","items":{"type":"string"},"description":"For example bug, feature, docs"}
	},"required":["id","title","body","state","labels"],"additionalProperties":false}`

	issuesSchema = `{"type":"object","properties":{"issues":{"type":"array","items":` + issueSchema +
		`,"description":"In the order of their numbers"}},"required":["issues"],"additionalProperties":false}`

	commentsSchema = `{"type":"object","properties":{"comments":{"type":"array","items":{"type":"object","properties":{
		"issue":{"type":"integer","description":"Number of the issue"},
		"author":{"type":"string"},
		"body":{"type":"string"}
	},"required":["issue","author","body"],"additionalProperties":false},"description":"Oldest first"}
	},"required":["comments"],"additionalProperties":false}`

	deletedSchema = `{"type":"object","properties":{
		"id":{"type":"integer","description":"Number of the issue"},
		"deleted":{"type":"boolean","description":"false when there was no such issue, for example because it is deleted already"}
	},"required":["id","deleted"],"additionalProperties":false}`

	idInput = `{"type":"object","properties":{
		"id":{"type":"integer","minimum":1,"description":"Number of the issue"}
	},"required":["id"],"additionalProperties":false}`

	filterInput = `{"type":"object","properties":{
		"state":{"type":"string","enum":["open","closed"],"description":"Only issues in this state; all issues when left out"}
	},"additionalProperties":false}`

	createInput = `{"type":"object","properties":{
		"title":{"type":"string","minLength":1,"description":"One line"},
		"body":{"type":"string","description":"Description in plain text"},
		"labels":{"type":"array","items":{"type":"string"},"description":"For example bug, feature, docs"}
	},"required":["title"],"additionalProperties":false}`
)

type tool struct {
	name, description, input, output string
	hints                            mcp.ToolAnnotation
	run                              func(*State, json.RawMessage) (any, error)
}

var tools = []tool{
	{
		name:        "list_issues",
		description: "List the issues, all of them or only those that are open or closed.",
		input:       filterInput, output: issuesSchema, hints: hints(true, false, true), run: typed(listIssues),
	},
	{
		name:        "get_issue",
		description: "Get one issue by its number. It is an error when there is none.",
		input:       idInput, output: issueSchema, hints: hints(true, false, true), run: typed(getIssue),
	},
	{
		name:        "list_comments",
		description: "List the comments on one issue.",
		input:       idInput, output: commentsSchema, hints: hints(true, false, true), run: typed(listComments),
	},
	{
		name:        "create_issue",
		description: "Create an open issue and answer with it. Calling this twice creates two issues.",
		input:       createInput, output: issueSchema, hints: hints(false, false, false), run: typed(createIssue),
	},
	{
		name:        "delete_issue",
		description: "Delete an issue and its comments for good. Nothing happens when it is gone already.",
		input:       idInput, output: deletedSchema, hints: hints(false, true, true), run: typed(deleteIssue),
	},
	{
		name:        "close_issue",
		description: "Close an issue and answer with it. Nothing happens when it is closed already.",
		input:       idInput, output: issueSchema, hints: hints(false, false, true), run: typed(closeIssue),
	},
}

func (t tool) reads() bool { return *t.hints.ReadOnlyHint }

func (t tool) describe() mcp.Tool {
	described := mcp.NewToolWithRawSchema(t.name, t.description, json.RawMessage(t.input))
	described.RawOutputSchema = json.RawMessage(t.output)
	described.Annotations = t.hints
	return described
}

func hints(readOnly, destructive, idempotent bool) mcp.ToolAnnotation {
	return mcp.ToolAnnotation{
		ReadOnlyHint:    mcp.ToBoolPtr(readOnly),
		DestructiveHint: mcp.ToBoolPtr(destructive),
		IdempotentHint:  mcp.ToBoolPtr(idempotent),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}
}

func typed[A, R any](run func(*State, A) (R, error)) func(*State, json.RawMessage) (any, error) {
	return func(state *State, raw json.RawMessage) (any, error) {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return run(state, args)
	}
}

type (
	byID struct {
		ID int `json:"id"`
	}
	byState struct {
		State string `json:"state"`
	}
	draft struct {
		Title  string   `json:"title"`
		Body   string   `json:"body"`
		Labels []string `json:"labels"`
	}
	issueList struct {
		Issues []Issue `json:"issues"`
	}
	commentList struct {
		Comments []Comment `json:"comments"`
	}
	deletion struct {
		ID      int  `json:"id"`
		Deleted bool `json:"deleted"`
	}
)

func listIssues(s *State, want byState) (issueList, error) {
	found := []Issue{}
	for _, issue := range s.Issues {
		if want.State == "" || issue.State == want.State {
			found = append(found, issue)
		}
	}
	return issueList{found}, nil
}

func getIssue(s *State, want byID) (Issue, error) {
	i, err := s.find(want.ID)
	if err != nil {
		return Issue{}, err
	}
	return s.Issues[i], nil
}

func listComments(s *State, want byID) (commentList, error) {
	if _, err := s.find(want.ID); err != nil {
		return commentList{}, err
	}
	found := []Comment{}
	for _, comment := range s.Comments {
		if comment.Issue == want.ID {
			found = append(found, comment)
		}
	}
	return commentList{found}, nil
}

func createIssue(s *State, d draft) (Issue, error) {
	issue := Issue{ID: s.NextID, Title: d.Title, Body: d.Body, State: open, Labels: append([]string{}, d.Labels...)}
	s.NextID++
	s.Issues = append(s.Issues, issue)
	return issue, nil
}

func deleteIssue(s *State, want byID) (deletion, error) {
	before := len(s.Issues)
	s.Issues = slices.DeleteFunc(s.Issues, func(issue Issue) bool { return issue.ID == want.ID })
	s.Comments = slices.DeleteFunc(s.Comments, func(comment Comment) bool { return comment.Issue == want.ID })
	return deletion{ID: want.ID, Deleted: len(s.Issues) < before}, nil
}

func closeIssue(s *State, want byID) (Issue, error) {
	i, err := s.find(want.ID)
	if err != nil {
		return Issue{}, err
	}
	s.Issues[i].State = closed
	return s.Issues[i], nil
}
