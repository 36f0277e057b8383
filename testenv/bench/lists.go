package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// benchLists
func benchLists(ctx context.Context, o options, out, progress io.Writer) error {
	s, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	start := time.Now()
	paused := atomic.Int64{}
	ids := make([]string, 0, 10000)
	if err := together(32, o.executions-o.pending, func() error {
		_, err := s.client.Execute(ctx, fmt.Sprintf("// program %d\nreturn %d", programs.Add(1), 1), codemode.ExecuteOptions{Purpose: "one of many"})
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintln(progress, "completed made in", time.Since(start))
	start = time.Now()
	if err := together(32, o.pending, func() error {
		_, err := s.pause(ctx, work{Reads: 1})
		paused.Add(1)
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintln(progress, "paused made in", time.Since(start))
	time.Sleep(70 * time.Second)
	f, _ := os.Create("/tmp/lists/cpu.prof")
	_ = pprof.StartCPUProfile(f)
	for range 5 {
		ms, _ := timed(func() error {
			recs, err := s.client.Executions(ctx, codemode.ListOptions{Limit: 2000, Brief: true, Status: signals.Completed})
			fmt.Fprintln(progress, len(recs))
			return err
		})
		fmt.Fprintln(progress, "list brief completed, old", ms)
		ms, _ = timed(func() error {
			recs, err := s.client.Executions(ctx, codemode.ListOptions{Limit: 2000, Brief: true})
			fmt.Fprintln(progress, len(recs))
			return err
		})
		fmt.Fprintln(progress, "list brief, old", ms)
		ms, _ = timed(func() error {
			_, err := s.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: "WorkflowType = 'codemode.Execution' AND WorkflowId STARTS_WITH 'codemode/default/'"})
			return err
		})
		fmt.Fprintln(progress, "count", ms)
		ms, _ = timed(func() error {
			_, err := s.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000, Query: "WorkflowType = 'codemode.Execution' AND WorkflowId STARTS_WITH 'codemode/default/'"})
			return err
		})
		fmt.Fprintln(progress, "one page", ms)
		ms, _ = timed(func() error {
			_, err := s.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000, Query: "WorkflowType = 'codemode.Execution' AND ExecutionStatus = 'Completed'"})
			return err
		})
		fmt.Fprintln(progress, "one page, completed", ms)
	}
	pprof.StopCPUProfile()
	for range 3 {
		ms, err := timed(func() error { l, err := s.client.Pending(ctx, ""); fmt.Fprintln(progress, len(l)); return err })
		fmt.Fprintln(progress, "pending", ms, err)
		var recs []signals.Record
		ms, err = timed(func() error {
			recs, err = s.client.Executions(ctx, codemode.ListOptions{Limit: 2000})
			fmt.Fprintln(progress, len(recs))
			return err
		})
		fmt.Fprintln(progress, "list", ms, err)
		ms, err = timed(func() error {
			recs, err = s.client.Executions(ctx, codemode.ListOptions{Limit: 2000, Status: signals.Completed})
			fmt.Fprintln(progress, len(recs))
			return err
		})
		fmt.Fprintln(progress, "list completed", ms, err)
		ids = ids[:0]
		for _, r := range recs {
			ids = append(ids, r.ID)
		}
		ms, err = timed(func() error {
			recs, err := s.client.Executions(ctx, codemode.ListOptions{Limit: 2000, Brief: true})
			fmt.Fprintln(progress, len(recs))
			return err
		})
		fmt.Fprintln(progress, "list brief", ms, err)
		for _, n := range []int{8} {
			var g errgroup.Group
			g.SetLimit(n)
			ms, _ = timed(func() error {
				for _, id := range ids {
					g.Go(func() error {
						it := s.temporal.GetWorkflowHistory(ctx, signals.WorkflowID("default", id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
						for it.HasNext() {
							if _, err := it.Next(); err != nil {
								return err
							}
						}
						return nil
					})
				}
				return g.Wait()
			})
			fmt.Fprintln(progress, "close events", n, ms)
			ms, _ = timed(func() error {
				for _, id := range ids {
					g.Go(func() error {
						_, err := s.temporal.DescribeWorkflowExecution(ctx, signals.WorkflowID("default", id), "")
						return err
					})
				}
				return g.Wait()
			})
			fmt.Fprintln(progress, "describes", n, ms)
		}
	}
	return nil
}
