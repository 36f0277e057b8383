package signals

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func offerOf(seq int, method string, class Class, args string) Offer {
	return Offer{From: CarriedFrom{ExecutionID: "a", Seq: seq}, Connector: "c", Method: method, Class: class,
		Args: json.RawMessage(args), Value: json.RawMessage(fmt.Sprint(seq)), At: 1000}
}

// taking is a call of the continuing program, and which one of the earlier execution it should take over; -1 is none.
type taking struct {
	method, args string
	want         int
}

func TestShelf(t *testing.T) {
	now := time.UnixMilli(2000)
	edited := offerOf(0, "w", Write, `{"n":1}`)
	edited.Edited = json.RawMessage(`{"n":2}`)
	for name, c := range map[string]struct {
		offers []Offer
		part   EarlierPart
		reads  time.Duration
		acts   bool
		calls  []taking
	}{
		"each once, in order": {
			offers: []Offer{offerOf(0, "w", Write, `1`), offerOf(1, "w", Write, `1`)},
			calls:  []taking{{"w", `1`, 0}, {"w", `1`, 1}, {"w", `1`, -1}},
		},
		"equal as JSON": {
			offers: []Offer{offerOf(0, "w", Write, `{"a":1,"b":2}`)},
			calls:  []taking{{"w", `{ "b": 2, "a": 1 }`, 0}},
		},
		"other method, other arguments, none": {
			offers: []Offer{offerOf(0, "w", Write, `1`), offerOf(1, "w", Write, ``)},
			calls:  []taking{{"v", `1`, -1}, {"w", `2`, -1}, {"w", ``, 1}, {"w", `1`, 0}},
		},
		"issued arguments, and edited ones": {
			offers: []Offer{edited, offerOf(1, "w", Write, `{"n":2}`)},
			calls:  []taking{{"w", `{"n":2}`, 0}, {"w", `{"n":1}`, -1}, {"w", `{"n":2}`, 1}},
		},
		"young reads": {
			offers: []Offer{offerOf(0, "r", Read, `1`)}, reads: time.Second,
			calls: []taking{{"r", `1`, 0}},
		},
		"old reads": {
			offers: []Offer{offerOf(0, "r", Read, `1`), offerOf(1, "w", Write, `1`)}, reads: 999 * time.Millisecond,
			calls: []taking{{"r", `1`, -1}, {"w", `1`, 1}},
		},
		"fresh reads": {
			offers: []Offer{offerOf(0, "r", Read, `1`), offerOf(1, "p", Idempotent, `1`)}, reads: time.Hour,
			part: EarlierPart{Fresh: true}, calls: []taking{{"r", `1`, -1}, {"p", `1`, 1}},
		},
		"a read before an effect, asked for after it": {
			offers: []Offer{offerOf(0, "r", Read, `1`), offerOf(1, "w", Write, `1`), offerOf(2, "r", Read, `1`)},
			reads:  time.Hour,
			calls:  []taking{{"w", `1`, 1}, {"r", `1`, 2}, {"r", `1`, -1}},
		},
		"a read after an effect of its own": {
			offers: []Offer{offerOf(0, "r", Read, `1`), offerOf(1, "w", Write, `1`)}, reads: time.Hour, acts: true,
			calls: []taking{{"r", `1`, -1}, {"w", `1`, 1}},
		},
		"what was undone": {
			offers: []Offer{offerOf(0, "w", Write, `1`), offerOf(1, "w", Write, `1`)},
			part:   EarlierPart{Undone: []CarriedFrom{{ExecutionID: "a", Seq: 0}}},
			calls:  []taking{{"w", `1`, 1}, {"w", `1`, -1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := NewLog()
			for _, part := range OfferParts(c.part, c.offers) {
				log.Offer(part)
			}
			if c.acts {
				log.Add(PassResult{Blocked: []Blocked{{Seq: 9, Class: Write}}})
			}
			shelf := log.Shelf(now, c.reads)
			for seq, call := range c.calls {
				o, ok := shelf.Take(seq, "c", call.method, json.RawMessage(call.args), true)
				require.Equal(t, call.want >= 0, ok, "%d: %+v", seq, call)
				if ok {
					require.Equal(t, call.want, o.From.Seq, "%d: %+v", seq, call)
					require.Equal(t, call.want, shelf.Taken(seq).From.Seq)
					again, _ := shelf.Take(seq, "c", call.method, json.RawMessage(call.args), true)
					require.Equal(t, o.From, again.From, "the same call gets the same")
				}
			}
		})
	}
}

func TestShelfWithoutReads(t *testing.T) {
	log := NewLog()
	log.Offer(EarlierPart{Offers: []Offer{offerOf(0, "r", Read, `1`)}})
	_, ok := log.Shelf(time.UnixMilli(0), time.Hour).Take(0, "c", "r", json.RawMessage(`1`), false)
	require.False(t, ok, "today's rules refuse it")
	var none *Shelf
	require.False(t, none.Has("c", "r"))
	require.Nil(t, none.Taken(0))
	none.Acts()
}

// What was taken is remembered by the log: by every later pass, and by every later run.
func TestOffersOutliveRuns(t *testing.T) {
	log := NewLog()
	big := strings.Repeat("x", 500_000)
	var offers []Offer
	for i := range 5 {
		o := offerOf(i, "w", Write, fmt.Sprintf(`{"n":%d,"big":%q}`, i, big))
		o.Edited, o.Decisions = json.RawMessage(`{"n":0}`), []Decision{{Kind: SignalApprove, By: "ada"}}
		offers = append(offers, o)
	}
	parts := OfferParts(EarlierPart{Seed: "a", StartedAt: 7, Tip: "b"}, offers)
	require.Greater(t, len(parts), 2)
	for _, part := range parts {
		log.Offer(part)
	}
	from, asked := offers[1].From, offers[3]
	log.Add(PassResult{Nonce: "n", Pass: 1,
		Entries: []Entry{{ID: 0, Connector: "c", Method: "w", Args: offers[1].Args, Class: Write, CarriedFrom: &from}},
		Blocked: []Blocked{{Seq: 1, Connector: "c", Method: "w", Args: asked.Args, Class: Write,
			Earlier: &EarlierCall{From: asked.From, Unknown: CallError{Name: OutcomeUnknown}}}}})
	restored := NewLog()
	for _, part := range log.Carry() {
		text, err := json.Marshal(part)
		require.NoError(t, err)
		require.Less(t, len(text), 1_900_000)
		var read CarriedLog
		require.NoError(t, json.Unmarshal(text, &read))
		restored.Restore(read)
	}
	require.Equal(t, "a", restored.Earlier.Seed)
	require.Equal(t, log.LeftOver(), restored.LeftOver())
	require.Len(t, restored.LeftOver(), 3)
	require.Equal(t, log.Calls(), restored.Calls())
	call := restored.Calls()[0]
	require.Equal(t, []any{"ada", `{"n":0}`, &from}, []any{call.DecidedBy, string(call.EditedArgs), call.CarriedFrom})
	require.Equal(t, Pending, restored.Calls()[1].State)
	shelf := restored.Shelf(time.UnixMilli(2000), time.Hour)
	_, ok := shelf.Take(2, "c", "w", offers[1].Args, true)
	require.False(t, ok)
	_, ok = shelf.Take(2, "c", "w", offers[0].Args, true)
	require.True(t, ok)
}

// A closed execution offers what settled and what may have; its own calls first, then what it did not take itself.
func TestOffersOf(t *testing.T) {
	log := NewLog()
	log.Offer(EarlierPart{Offers: []Offer{offerOf(0, "w", Write, `1`), offerOf(1, "w", Write, `2`)}})
	from := CarriedFrom{ExecutionID: "a", Seq: 1}
	failed := &CallError{Message: "no"}
	log.Add(PassResult{Entries: []Entry{
		{ID: 0, Connector: "c", Method: "r", Class: Read},
		{ID: 1, Connector: "c", Method: "w", Class: Write, Args: json.RawMessage(`2`), CarriedFrom: &from},
		{ID: 2, Connector: StepConnector, Method: "s", Class: Read},
		{ID: 3, Connector: "c", Method: "r", Class: Read, Error: failed},
		{ID: 4, Connector: "c", Method: "e", Class: Read, Ephemeral: true},
		{ID: -1, Connector: PlatformConnector, Method: "search", Class: Read},
	}, Blocked: []Blocked{{Seq: 5, Connector: "c", Method: "w", Class: Write}, {Seq: 6, Method: "w", Class: Write},
		{Seq: 7, Connector: "c", Method: "r", Class: Read}}})
	unknown := UnknownOutcome("c.w", "key")
	require.NoError(t, log.Give([]Given{{ID: 5, Error: unknown}, {ID: 6, Error: failed}, {ID: 7, Error: unknown}}, nil))
	list := log.OffersOf("b", log.Calls(), func(c Call) *CallError {
		if c.ErrorName == OutcomeUnknown {
			return unknown
		}
		return nil
	})
	var told []string
	for _, o := range list {
		told = append(told, fmt.Sprintf("%s/%d %s %v", o.From.ExecutionID, o.From.Seq, o.Method, o.Unknown()))
	}
	require.Equal(t, []string{"b/0 r false", "a/1 w false", "b/5 w true", "a/0 w false"}, told)
}
