package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/rest/edge"
)

const (
	apiWhy  = "/Webhooks/Why"
	pathWhy = Root + "/Why"
)

// explanations has the page with the history of a key or of a message.
type explanations struct{ client }

func (h explanations) routes() []edge.Route {
	return []edge.Route{webhooks(route(account.Admin, pathWhy, h.show))}
}

// whyPage is the page with the history.
type whyPage struct {
	encode.Page
	Search   searchForm
	HasQuery bool
	Steps    []whyStep
	More     bool
}

// whyStep is a step of the history.
type whyStep struct {
	wire.WhyStep
	When       moment
	Sign       string
	Class      string
	MessageURL string
	Due        moment
}

// signs are the signs of steps; others have a dot.
var signs = map[string][2]string{
	wire.WhyDelivered:   {"✓", "good"},
	wire.WhyFailed:      {"✗", "bad"},
	wire.WhyRetrying:    {"↻", "warn"},
	wire.WhyWaiting:     {"○", "idle"},
	wire.WhyBreakerOpen: {"■", "bad"},
	wire.WhyDisabled:    {"■", "bad"},
	wire.WhyHeld:        {"▲", "warn"},
	wire.WhyUnmet:       {"○", "idle"},
}

// show shows the history of the key or of the message in the address, or the form for one.
func (h explanations) show(x *edge.Context) error {
	filters, err := filterSet{others: []string{memberKey, "MessageID"}}.in(x)
	if err != nil {
		return err
	}
	page := whyPage{Page: frame(x, "Why", messagesLink), Search: keyForm(filters.Get(memberKey))}
	only := make(url.Values)
	for _, name := range []string{memberKey, "MessageID"} {
		if text := strings.TrimSpace(filters.Get(name)); text != "" {
			only.Set(name, text)
		}
	}
	if len(only) == 0 {
		return show(x, http.StatusOK, "why", page)
	}
	var why wire.Why
	err = h.get(x, apiWhy, only, &why)
	status, isRefused := page.Search.refused(err)
	if isRefused {
		return show(x, status, "why", page)
	}
	if err != nil {
		return err
	}
	page.HasQuery = true
	page.Search = keyForm(why.Key)
	page.More = why.More
	for _, s := range why.Steps {
		page.Steps = append(page.Steps, whyStepOf(x, s))
	}
	if why.Key != "" {
		page.Title = "Why: " + why.Key
	}
	return show(x, http.StatusOK, "why", page)
}

// keyForm returns the form for a key.
func keyForm(key string) searchForm {
	return searchForm{
		Name:   "Key",
		Button: "Show the history",
		Inputs: []field{{Name: memberKey, Value: key, Required: true}},
	}
}

func whyStepOf(x *edge.Context, s wire.WhyStep) whyStep {
	step := whyStep{WhyStep: s, When: ago(x, s.At), Due: ago(x, s.Due), Sign: "●", Class: "idle"}
	if sign, ok := signs[s.Step]; ok {
		step.Sign, step.Class = sign[0], sign[1]
	}
	isAccepted := s.Code >= http.StatusOK && s.Code < http.StatusMultipleChoices
	if s.Step == wire.WhyAttempt && !isAccepted {
		step.Sign, step.Class = "✗", "bad"
	}
	if s.MessageID != "" {
		step.MessageURL = x.Base + addressOf(s.MessageID)
	}
	return step
}
