package console

import (
	"fmt"
	"net/url"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// listen collects what a page complains about, and the hosts that it asks.
func listen(p *tab, problems, hosts *[]string) {
	var mu sync.Mutex
	require.NoError(p.d.t, chromedp.Listen(p.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				*problems = append(*problems, e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			*problems = append(*problems, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.URL))
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err == nil {
				*hosts = append(*hosts, u.Host)
			}
		}
	}))
	for _, err := range []error{enable(p, network.Enable), enable(p, log.Enable), enable(p, runtime.Enable)} {
		require.NoError(p.d.t, err)
	}
}

func enable[P, R any](p *tab, domain cdp.Command[P, R]) error {
	var params P
	_, err := chromedp.Call(p.ctx, domain, params)
	return err
}
