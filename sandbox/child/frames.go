package child

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/harden"
)

// Frames between the worker and a sandbox child: four bytes of length, one byte of kind, a CBOR body. Both sides bound
// what they accept, the worker tightly, since a child may have been taken over by its program.
type frameKind byte

const (
	frameReady      frameKind = 'H' // child: readyMessage
	framePass       frameKind = 'P' // worker: passMessage
	frameNext       frameKind = 'N' // worker: nextMessage, for the parked runtime
	frameReturn     frameKind = 'B' // worker: returnMessage, for a runtime that stands where its pass left it
	frameDrop       frameKind = 'D' // worker: the number of a pass whose runtime no longer has to stand
	frameGone       frameKind = 'G' // child: nothing; it has not kept the runtime of a frameReturn
	frameLeave      frameKind = 'L' // worker: nothing; the pass is to leave once its program can only wait
	frameForget     frameKind = 'F' // worker: nothing; the parked runtime goes
	frameAdmit      frameKind = 'Q' // child: Call, answered by frameAdmission
	frameAdmission  frameKind = 'A' // worker: Admission
	frameCall       frameKind = 'C' // child: Call, answered by frameSettlement when it is made
	frameSettlement frameKind = 'S' // worker: settledMessage
	frameResult     frameKind = 'R' // child: Result
	frameProbe      frameKind = 'T' // worker: nothing; answered by frameProbed
	frameProbed     frameKind = 'U' // child: Probe
)

const (
	maxFrameToChild  = 256 << 20
	maxFrameToWorker = 8 << 20
)

type readyMessage struct {
	Version string
	Layers  []harden.Layer
}

type passMessage struct {
	Stay
	Pass sandbox.Pass
}

type nextMessage struct {
	Stay
	Next engine.Next
}

type returnMessage struct {
	Stay
	Left *sandbox.LeftState
}

// Stay is what a child is told with each pass.
type Stay struct {
	ID       uint64 // of the pass, as long as it runs
	BusyPoll bool
	Leave    bool // as with frameLeave
}

type settledMessage struct {
	Seq int
	sandbox.Settlement
}

// The decoders bound nesting and counts. An element of one byte may become a hundred times as much where it stands for
// a call: few of these fit a result, by their bytes alone.
var frameDecoder, callsDecoder = newDecoder(1 << 20), newDecoder(1 << 15)

func newDecoder(elements int) cbor.DecMode {
	mode, err := cbor.DecOptions{MaxNestedLevels: 16, MaxArrayElements: elements, MaxMapPairs: 1 << 10}.DecMode()
	if err != nil {
		panic(err)
	}
	return mode
}

// link is one end of the pipes between worker and child. Writes may come from several goroutines.
type link struct {
	pipe  io.Reader
	r     *bufio.Reader // reads pipe
	w     io.Writer
	mu    sync.Mutex
	limit int // largest frame that is read, in bytes
}

func newLink(r io.Reader, w io.Writer, limit int) *link {
	return &link{pipe: r, r: bufio.NewReaderSize(r, 64<<10), w: w, limit: limit}
}

// setBusyPoll says whether the reader may busy-poll for an answer, where its platform has that.
func (l *link) setBusyPoll(on bool) {
	if r, ok := l.pipe.(interface{ setBusyPoll(bool) }); ok {
		r.setBusyPoll(on)
	}
}

func (l *link) send(kind frameKind, body any) error {
	encoded, err := cbor.Marshal(body)
	if err != nil {
		return err
	}
	frame := make([]byte, 5, 5+len(encoded))
	binary.BigEndian.PutUint32(frame, uint32(len(encoded)))
	frame[4] = byte(kind)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(frame, encoded...))
	return err
}

// receive reads one frame. Its body is read as it comes, so that a length alone allocates nothing.
func (l *link) receive() (frameKind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(l.r, head[:]); err != nil {
		return 0, nil, err
	}
	size := int(binary.BigEndian.Uint32(head[:]))
	if size > l.limit {
		return 0, nil, fmt.Errorf("a sandbox frame of %d bytes is over the limit of %d", size, l.limit)
	}
	body, err := io.ReadAll(io.LimitReader(l.r, int64(size)))
	if err == nil && len(body) < size {
		err = io.ErrUnexpectedEOF
	}
	return frameKind(head[4]), body, err
}

func decodeFrame(body []byte, into any) error { return frameDecoder.Unmarshal(body, into) }

// decodeResult reads a child's result.
func decodeResult(body []byte) (r sandbox.Result, err error) {
	var parts struct {
		sandbox.Result
		Entries, Blocked cbor.RawMessage // these stand instead of the result's own
	}
	if err := decodeFrame(body, &parts); err != nil {
		return r, err
	}
	r = parts.Result
	if len(parts.Entries) > 0 {
		err = callsDecoder.Unmarshal(parts.Entries, &r.Entries)
	}
	if err == nil && len(parts.Blocked) > 0 {
		err = callsDecoder.Unmarshal(parts.Blocked, &r.Blocked)
	}
	return r, err
}
