package signals

// OutcomeActivity is an activity, and for those who have no workflow of their own a workflow, on the runtime's task
// queue: it answers an OutcomeInput with an OutcomePart. So anybody gets an outcome whole, whatever results, updates
// and queries had to leave out for its size.
const OutcomeActivity = "codemode.Outcome"

// OutcomeInput asks for a part, from 0, of the newest outcome of an execution, which may be open or closed.
type OutcomeInput struct {
	WorkflowID string `json:"workflowId"`
	Part       int    `json:"part,omitempty"`
}

// OutcomePart is one of Parts parts of an outcome. The first has the result; nearly always it is the only one. The
// lists logs, pending and calls go on in further parts where one payload cannot hold them. A call whose arguments and
// result together fit none is omitted.
type OutcomePart struct {
	Outcome
	Part  int `json:"part"`
	Parts int `json:"parts"`
}

// outcomePart is what a part holds in bytes, unless it holds a single value.
const outcomePart = 1_500_000

// Parts splits a whole outcome into parts that each fit a payload.
func (o Outcome) Parts() []OutcomePart {
	first := o
	first.Logs, first.Pending, first.Calls, first.Partial, first.CallsOmitted = nil, nil, []Call{}, false, false
	s := &outcomeSplitter{bytes: len(first.Result) + len(first.Error), parts: []OutcomePart{{Outcome: first}}}
	for _, line := range o.Logs {
		p := s.room(len(line))
		p.Logs = append(p.Logs, line)
	}
	for _, a := range o.Pending {
		p := s.room(len(a.Args) + len(a.EditedArgs) + len(a.Refused))
		p.Pending = append(p.Pending, a)
	}
	for _, c := range o.Calls {
		values := len(c.Args) + len(c.Result) + len(c.EditedArgs)
		if values > MaxValueBytes {
			c.Args, c.Result, c.EditedArgs, c.Omitted, values = nil, nil, nil, true, 0
		}
		p := s.room(values + len(c.Error) + len(c.Note))
		p.Calls = append(p.Calls, c)
	}
	for i := range s.parts {
		s.parts[i].Part, s.parts[i].Parts = i, len(s.parts)
	}
	return s.parts
}

// How many warnings an outcome has, and how many bytes each.
const maxWarnings, maxWarning = 5, 300

// BoundWarnings keeps the first warnings, each cut.
func BoundWarnings(list []string) []string {
	var kept []string
	for _, text := range list[:min(len(list), maxWarnings)] {
		kept = append(kept, Cut(text, maxWarning))
	}
	return kept
}

type outcomeSplitter struct {
	parts []OutcomePart
	bytes int // in the last of them
}

// room is the part that takes an item: another one where the last has no room.
func (s *outcomeSplitter) room(bytes int) *OutcomePart {
	const besides = 500
	if bytes += besides; s.bytes > 0 && s.bytes+bytes > outcomePart {
		o := s.parts[0].Outcome
		o.Result, o.Error, o.Position, o.Logs, o.Pending, o.Calls = nil, "", nil, nil, nil, []Call{}
		o.Excerpt, o.Warnings = "", nil
		s.parts, s.bytes = append(s.parts, OutcomePart{Outcome: o}), 0
	}
	s.bytes += bytes
	return &s.parts[len(s.parts)-1]
}
