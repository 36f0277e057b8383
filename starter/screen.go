package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/temporal-codemode/codemode/signals"
)

// screen is where text goes. Colours and live lines are for terminals only.
type screen struct {
	io.Writer
	terminal bool
	color    bool
}

func newScreen(f *os.File) *screen {
	terminal := term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
	return &screen{Writer: f, terminal: terminal, color: terminal && os.Getenv("NO_COLOR") == ""}
}

// page is text that is shown at once.
type page struct {
	strings.Builder
	to *screen
}

func (s *screen) page() *page { return &page{to: s} }

func (p *page) flush() { _, _ = io.WriteString(p.to, p.String()) }

// style is what a text means; the number is the terminal's.
type style string

const (
	good style = "32"
	bad  style = "31"
	warn style = "33"
	dim  style = "2"
	bold style = "1"
)

// printf adds text, without what programs and tools put into it for the terminal.
func (p *page) printf(format string, args ...any) {
	p.WriteString(signals.Visible(fmt.Sprintf(format, args...)))
}

func (p *page) line(format string, args ...any) { p.printf(format+"\n", args...) }

func (p *page) styled(s style, format string, args ...any) {
	text := signals.Visible(fmt.Sprintf(format, args...))
	if !p.to.color {
		p.WriteString(text)
		return
	}
	body := strings.TrimRight(text, "\n")
	p.WriteString("\x1b[" + string(s) + "m" + body + "\x1b[0m" + text[len(body):])
}

// Times of the live line. Short waits show none.
const (
	liveAfter = 300 * time.Millisecond
	liveEvery = 120 * time.Millisecond
)

// live keeps a line on a terminal that says what is waited for, until stop is called.
func (s *screen) live(text string) (stop func()) { return s.liveText(func() string { return text }) }

// liveText is live with a text that changes.
func (s *screen) liveText(text func() string) (stop func()) {
	if !s.terminal {
		return func() {}
	}
	ticks := time.NewTicker(liveEvery)
	return s.liveOn(text, ticks.C, ticks.Stop)
}

func (s *screen) liveOn(text func() string, ticks <-chan time.Time, done func()) (stop func()) {
	began, end := time.Now(), make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		defer done()
		shown := false
		for n := 0; ; n++ {
			select {
			case <-end:
				if shown {
					fmt.Fprint(s, "\r\x1b[K")
				}
				return
			case now := <-ticks:
				if elapsed := now.Sub(began); elapsed >= liveAfter {
					shown = true
					fmt.Fprint(s, "\r\x1b[K"+frame(text(), n, elapsed))
				}
			}
		}
	})
	return sync.OnceFunc(func() { close(end); running.Wait() })
}

func frame(text string, n int, elapsed time.Duration) string {
	spinner := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	return fmt.Sprintf("%c %s · %s", spinner[n%len(spinner)], signals.Visible(text), elapsed.Round(time.Second))
}
