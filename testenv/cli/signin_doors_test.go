package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
)

// atDoors are the things that people do, by door. Each tells whether it was done. All look at one execution.
func (o *office) atDoors(shown string) map[string]map[string]func(who string) bool {
	return map[string]map[string]func(string) bool{"MCP door": o.atMCP(shown), "console": o.atConsole(shown),
		"API": o.atAPI(shown)}
}

func (o *office) atMCP(shown string) map[string]func(who string) bool {
	look := func(who, id string) (int, string) {
		return o.call(who, codemodeCall(map[string]any{"executionId": id}))
	}
	return map[string]func(string) bool{
		"start": func(who string) bool {
			out, ok := outcomeOf(o.call(who, codemodeCall(map[string]any{"code": needsNothing})))
			return ok && out.Status == signals.Completed
		},
		"see": func(who string) bool {
			out, ok := outcomeOf(look(who, shown))
			return ok && out.Status == signals.Completed
		},
		"decide": func(who string) bool {
			id := o.run(asksFinance).ExecutionID
			status, text := look(who, id)
			if status != http.StatusOK || !strings.Contains(text, `"input_required"`) {
				return false
			}
			q, params := o.questionOf(text), codemodeCall(map[string]any{"executionId": id})
			params["inputResponses"], params["requestState"] = approval(q), q.RequestState
			o.call(who, params)
			return o.record(id).Status != signals.Paused
		},
		"roll back": func(who string) bool {
			status, text := o.call(who, map[string]any{"name": "rollback",
				"arguments": map[string]any{"executionId": shown}})
			return status == http.StatusOK && !strings.Contains(text, `"error"`)
		},
	}
}

func (o *office) atConsole(shown string) map[string]func(who string) bool {
	viaPage := func(who string, form url.Values) bool {
		c := o.browser(who)
		form.Set("csrf", o.csrf[who])
		status, text, _ := o.ask(c, "POST", o.console+"/decide", form.Encode(), map[string]string{
			"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
			"X-Requested-With": "fetch"})
		return status == http.StatusOK && strings.Contains(text, `"accepted":true`)
	}
	return map[string]func(string) bool{
		"start": func(who string) bool {
			status, _, _ := o.ask(o.browser(who), "POST", o.console+"/executions", "code=1", map[string]string{
				"Content-Type": "application/x-www-form-urlencoded", "X-CSRF-Token": o.csrf[who]})
			return status < http.StatusBadRequest && status != http.StatusSeeOther
		},
		"see": func(who string) bool {
			status, text, _ := o.ask(o.browser(who), "GET", o.console+"/executions/"+o.runtime+"/"+shown, "", nil)
			return status == http.StatusOK && strings.Contains(text, "close_issue")
		},
		"decide": func(who string) bool {
			out := o.run(asksFinance)
			return viaPage(who, url.Values{"action": {"approve"}, "whole": {"1"}, "item": {fmt.Sprintf("%s/%s/0/%s",
				o.runtime, out.ExecutionID, out.Pending[0].ArgsDigest)}})
		},
		"roll back": func(who string) bool {
			return viaPage(who, url.Values{"action": {"rollback"},
				"item": {fmt.Sprintf("%s/%s/0/", o.runtime, o.run(canBeUndone).ExecutionID)}})
		},
	}
}

func (o *office) atAPI(shown string) map[string]func(who string) bool {
	api := func(who, method, path, body string) (int, string) {
		status, text, _ := o.ask(http.DefaultClient, method, o.console+path, body,
			map[string]string{"Authorization": "Bearer " + o.id[who], "Content-Type": "application/json"})
		return status, text
	}
	viaAPI := func(who, decision string) bool {
		status, text := api(who, "POST", "/api/v1/decide", `{"decisions":[`+decision+`]}`)
		return status == http.StatusOK && strings.Contains(text, `"accepted":true`)
	}
	return map[string]func(string) bool{
		"start": func(who string) bool {
			status, _ := api(who, "POST", "/api/v1/executions", `{"code":"return 1"}`)
			return status < http.StatusBadRequest
		},
		"see": func(who string) bool {
			status, text := api(who, "GET", "/api/v1/executions/"+shown, "")
			return status == http.StatusOK && strings.Contains(text, "close_issue")
		},
		"decide": func(who string) bool {
			out := o.run(asksFinance)
			return viaAPI(who, fmt.Sprintf(`{"action":"approve","executionId":%q,"seq":0,"argsDigest":%q}`,
				out.ExecutionID, out.Pending[0].ArgsDigest))
		},
		"roll back": func(who string) bool {
			id := o.run(canBeUndone).ExecutionID
			return viaAPI(who, fmt.Sprintf(`{"action":"rollback","executionId":%q}`, id))
		},
	}
}
