package console

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

//go:embed openapi.json
var openAPI []byte

func serveOpenAPI(v *visit) error {
	v.w.Header().Set("Content-Type", "application/json")
	_, _ = v.w.Write(openAPI)
	return nil
}

type apiRoute struct {
	pattern string
	role    Role
	answer  answer
}

// apiRoutes are the endpoints that openapi.json describes.
func (c *Console) apiRoutes() []apiRoute {
	return []apiRoute{
		{"GET /api/v1/me", Viewer, c.apiMe},
		{"GET /api/v1/pending", Viewer, c.apiPending},
		{"POST /api/v1/decide", Approver, c.apiDecide},
		{"GET /api/v1/executions", Viewer, c.apiExecutions},
		{"GET /api/v1/executions/{id}", Viewer, c.apiExecution},
		{"GET /api/v1/events", Viewer, c.apiEvents},
	}
}

type apiError struct {
	Error string `json:"error"`
}

func writeJSON(v *visit, status int, document any) {
	text, err := signals.Marshal(document)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer has no JSON"}`)
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(text)
}

func (c *Console) apiMe(v *visit) error {
	writeJSON(v, http.StatusOK,
		map[string]any{"name": v.who.Name, "role": v.who.Role(), "authenticated": v.who.Asserted,
			"runtimes": c.names()})
	return nil
}

// pendingAnswer is the inbox. Problems tell of runtimes whose part may be out of date.
type pendingAnswer struct {
	Items    []codemode.InboxItem `json:"items"`
	Problems []apiProblem         `json:"problems,omitempty"`
	Version  int64                `json:"version"`
}

type apiProblem struct {
	Runtime string `json:"runtime"`
	Error   string `json:"error"`
}

func (c *Console) apiPending(v *visit) error {
	q := v.r.URL.Query()
	if _, err := c.runtime(q.Get("runtime")); err != nil {
		return err
	}
	now := c.inbox.snapshot(c.names())
	if !now.Known {
		return failed(http.StatusServiceUnavailable,
			"the inbox is being read for the first time: ask again in a moment")
	}
	out := pendingAnswer{Items: []codemode.InboxItem{}, Version: now.Version}
	f := filterOf(q)
	for _, i := range now.Items {
		if f.matches(i) && (q.Get("executionId") == "" || q.Get("executionId") == i.ExecutionID) {
			out.Items = append(out.Items, publicItem(i))
		}
	}
	for _, p := range now.Problems {
		out.Problems = append(out.Problems, apiProblem(p))
	}
	writeJSON(v, http.StatusOK, out)
	return nil
}

// apiDecision is one decision as programs send it.
type apiDecision struct {
	Action      string          `json:"action"`
	Runtime     string          `json:"runtime"`
	ExecutionID string          `json:"executionId"`
	Seq         *int            `json:"seq"`
	ArgsDigest  string          `json:"argsDigest"`
	Args        json.RawMessage `json:"args"`
	Note        string          `json:"note"`
	Reason      string          `json:"reason"`
	Continue    bool            `json:"continue"`
	Always      bool            `json:"always"`
	Result      json.RawMessage `json:"result"`
	By          string          `json:"by"`
}

type decideAnswer struct {
	Results []result `json:"results"`
}

// maxDecisions bounds the decisions of one request.
const maxDecisions = 1000

func (c *Console) apiDecide(v *visit) error {
	var in struct {
		Decisions []apiDecision `json:"decisions"`
	}
	d := json.NewDecoder(v.r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return badRequest("the body is not what openapi.json describes: %v", err)
	}
	if len(in.Decisions) == 0 || len(in.Decisions) > maxDecisions {
		return badRequest("send 1 to %d decisions, not %d", maxDecisions, len(in.Decisions))
	}
	var list []decision
	for n, d := range in.Decisions {
		one, err := c.decisionOf(d)
		if err != nil {
			return badRequest("decision %d: %v", n, err)
		}
		list = append(list, one)
	}
	writeJSON(v, http.StatusOK, decideAnswer{c.decideAll(v.context(), v.who, list)})
	return nil
}

func (c *Console) decisionOf(d apiDecision) (decision, error) {
	r, err := c.runtime(d.Runtime)
	if err != nil {
		return decision{}, err
	}
	one := decision{
		Action: d.Action, key: key{Runtime: r.Name, Execution: d.ExecutionID, Digest: d.ArgsDigest}, Args: d.Args,
		Note:     cmp.Or(d.Note, d.Reason),
		Whole:    true,
		Continue: d.Continue, Always: d.Always, Result: d.Result, By: d.By,
	}
	if !slices.Contains(actions, d.Action) {
		return one, badRequest("%q is no action: use one of %v", d.Action, actions)
	}
	if d.Note != "" && d.Reason != "" {
		return one, badRequest("send a reason with a rejection, a note with anything else, not both")
	}
	switch {
	case d.Seq != nil:
		one.Seq = *d.Seq
	case one.ofCall():
		return one, badRequest("seq is missing")
	}
	if d.Action == actionApprove && d.ArgsDigest == "" {
		return one, badRequest("argsDigest is missing: an approval is bound to the arguments that were looked at")
	}
	return one, nil
}

func (c *Console) apiExecutions(v *visit) error {
	q := v.r.URL.Query()
	records, err := c.list(v, q.Get("runtime"),
		codemode.ListOptions{Limit: max(1, number(q.Get("limit"), 20, 500)), Status: signals.Status(q.Get("status")),
			Text: strings.TrimSpace(q.Get("q"))})
	if err != nil {
		return err
	}
	for n := range records {
		records[n] = publicRecord(records[n])
	}
	writeJSON(v, http.StatusOK, map[string]any{"items": records})
	return nil
}

func (c *Console) apiExecution(v *visit) error {
	r, err := c.runtime(v.r.URL.Query().Get("runtime"))
	if err != nil {
		return err
	}
	id := v.r.PathValue("id")
	if signals.CheckExecutionID(id) != nil {
		return notFound("there is no execution %q", signals.Cut(id, 100))
	}
	record, err := r.Client.Show(v.context(), id)
	if err != nil {
		return err
	}
	writeJSON(v, http.StatusOK, publicRecord(*record))
	return nil
}
