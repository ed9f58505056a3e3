package pages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
)

// tab is one of several views, of which one is shown.
type tab struct {
	Name, URL, Sign, Class string
	Selected               bool
}

// fieldStatus is the field with the status of a message, and the name of its filter.
const fieldStatus = "Status"

// statusIn is the filter for several statuses of a message.
var statusIn = fieldStatus + record.In.Suffix()

// parseStatus returns the status that a filter names. The operations accept other forms of a number,
// too, such as 01.
func parseStatus(text string) (webhook.Status, bool) {
	n, err := wire.ParseInteger(record.Int, text)
	status := webhook.Status(n)
	return status, err == nil && int64(status) == n
}

// withoutStatus returns filters except all on the status.
func withoutStatus(filters url.Values) url.Values {
	kind := messageKind()
	remaining := make(url.Values)
	for name, texts := range filters {
		target, ok := kind.Member(name)
		isOnStatus := ok && kind.Fields[target.Field].Name == fieldStatus
		if !isOnStatus {
			remaining[name] = texts
		}
	}
	return remaining
}

// onlyStatus returns the status that filters select alone. ok is false if they select several, or all.
func onlyStatus(filters url.Values) (status webhook.Status, ok bool) {
	texts := filters[fieldStatus]
	isAlone := len(withoutStatus(filters)) == len(filters)-1
	if len(texts) != 1 || !isAlone {
		return 0, false
	}
	return parseStatus(texts[0])
}

// listedStatuses are the statuses with a tab.
var listedStatuses = []webhook.Status{
	webhook.Failed, webhook.RetryPending, webhook.NotSent, webhook.Successful,
}

// statusTabs returns links to the messages of each status.
func statusTabs(base string, filters url.Values) []tab {
	remaining := withoutStatus(filters)
	selected, hasSelected := onlyStatus(filters)
	tabs := []tab{{Name: "all", URL: with(base, remaining), Selected: len(remaining) == len(filters)}}
	for _, s := range listedStatuses {
		words := statuses[s]
		tabs = append(tabs, tab{
			Name:     words.Words,
			Sign:     words.Sign,
			Class:    words.Class,
			URL:      withFilter(base, remaining, fieldStatus, strconv.Itoa(int(s))),
			Selected: hasSelected && selected == s,
		})
	}
	return tabs
}

// memberPeriod is the filter of lists that selects the messages of a recent period by its name. Unlike
// one with a start, it selects the same period when the page is loaded again.
const memberPeriod = "Period"

// period is a period that a list offers.
type period struct {
	name   string // in addresses
	words  string
	length time.Duration
}

var periods = []period{
	{"hour", "last hour", time.Hour},
	{"day", "last 24 hours", 24 * time.Hour},
	{"week", "last 7 days", 7 * 24 * time.Hour},
}

// periodOf returns the period with a name.
func periodOf(name string) (p period, ok bool) {
	i := slices.IndexFunc(periods, func(p period) bool { return strings.EqualFold(p.name, name) })
	if i < 0 {
		return period{}, false
	}
	return periods[i], true
}

// periodWords describes the period with a name.
func periodWords(name string) string {
	p, ok := periodOf(name)
	if !ok {
		return name
	}
	return p.words
}

// withStart returns the filters of a list as the operations have them: with the start of the period
// instead of its name.
func withStart(x *edge.Context, filters url.Values) (url.Values, error) {
	names := filters[memberPeriod]
	if len(names) == 0 {
		return filters, nil
	}
	if len(names) > 1 {
		return nil, invalid([]fault.Field{{Name: memberPeriod, Message: "takes one value"}})
	}
	p, ok := periodOf(names[0])
	if !ok {
		return nil, invalid([]fault.Field{{Name: memberPeriod, Message: "must be hour, day or week"}})
	}
	fixed := without(filters, memberPeriod)
	fixed.Set(queries.MemberSince, x.Timing.Start.Add(-p.length).UTC().Format(time.RFC3339))
	return fixed, nil
}

// periodTabs returns links to the messages of recent periods. They replace both bounds: a period that
// ends before it starts would have no messages.
func periodTabs(base string, filters url.Values) []tab {
	remaining := without(filters, memberPeriod, queries.MemberSince, queries.MemberUntil)
	selected, hasSelected := periodOf(filters.Get(memberPeriod))
	tabs := []tab{{Name: "any time", URL: with(base, remaining), Selected: len(remaining) == len(filters)}}
	for _, p := range periods {
		tabs = append(tabs, tab{
			Name:     p.words,
			URL:      withFilter(base, remaining, memberPeriod, p.name),
			Selected: hasSelected && selected.name == p.name,
		})
	}
	return tabs
}
