package pages

import (
	"net/url"
	"strconv"
	"time"

	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
)

// tab is one of several views, of which one is shown.
type tab struct {
	Name, URL, Sign, Class string
	Selected               bool
}

// statusTabs returns links to the messages of each status.
func statusTabs(base string, filters url.Values) []tab {
	selected := filters.Get("Status")
	tabs := []tab{{Name: "all", URL: with(base, filters, "Status", ""), Selected: selected == ""}}
	for _, s := range []webhook.Status{webhook.Failed, webhook.RetryPending, webhook.NotSent, webhook.Successful} {
		number := strconv.Itoa(int(s))
		status := statuses[s]
		tabs = append(tabs, tab{
			Name:     status.Words,
			Sign:     status.Sign,
			Class:    status.Class,
			URL:      with(base, filters, "Status", number),
			Selected: selected == number,
		})
	}
	return tabs
}

// periods are the periods that a list offers.
var periods = []struct {
	name   string
	length time.Duration
}{
	{"last hour", time.Hour},
	{"last 24 hours", 24 * time.Hour},
	{"last 7 days", 7 * 24 * time.Hour},
}

// periodTabs returns links to the messages of recent periods. Their addresses have a fixed start, in
// whole minutes, so that they select the same messages when they are opened later.
func periodTabs(x *edge.Context, base string, filters url.Values) []tab {
	selected := filters.Get(queries.MemberSince)
	any := tab{Name: "any time", URL: with(base, filters, queries.MemberSince, "")}
	any.Selected = selected == ""
	tabs := []tab{any}
	for _, period := range periods {
		start := x.Timing.Start.Add(-period.length).UTC().Truncate(time.Minute).Format("2006-01-02T15:04:05Z")
		tabs = append(tabs, tab{
			Name:     period.name,
			URL:      with(base, filters, queries.MemberSince, start),
			Selected: selected == start,
		})
	}
	return tabs
}
