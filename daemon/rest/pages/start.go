package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
)

// startLink leads to the first page.
var startLink = encode.Link{Name: "Start", URL: Root}

// start has the first page after a login.
type start struct {
	client
	config Config
}

func (h start) routes() []edge.Route {
	home := route(account.Reader, Root, h.show)
	home.SignedIn = false // without a login if queries need none
	openAPI := route(account.Reader, pathOpenAPI, h.openAPI)
	openAPI.SignedIn = false
	return []edge.Route{home, openAPI}
}

// pathOpenAPI is the path of the page that leads to the documents for programs.
const pathOpenAPI = Root + "/OpenAPI"

// openAPIPage leads to the documents for programs.
type openAPIPage struct {
	encode.Page
	Documents []document
}

// document is a document for programs.
type document struct{ Name, Path, URL, Use string }

// openAPI shows the documents that describe the API for programs.
func (h start) openAPI(x *edge.Context) error {
	page := openAPIPage{Page: frame(x, "OpenAPI and types", startLink)}
	for _, d := range []document{
		{Name: "OpenAPI 3.1", Path: "/openapi.json", Use: "generators of clients, Postman and other tools"},
		{Name: "Swagger 2.0", Path: "/openapi", Use: "older tools"},
		{Name: "TypeScript", Path: "/types/typescript", Use: "the client library of ServiceStack"},
		{Name: "C#", Path: "/types/csharp", Use: "the client library of ServiceStack"},
	} {
		d.URL = edge.ServiceURL(x) + d.Path
		page.Documents = append(page.Documents, d)
	}
	return show(x, http.StatusOK, "openAPI", page)
}

// startPage is the first page.
type startPage struct {
	encode.Page
	Board    *board // nil without webhooks, and for users without the role
	Problem  string // why there is no board
	Areas    []area
	Requests []encode.Link
	Admin    []encode.Link
	API      []encode.Link
	Refresh  string
}

// area is an area of record kinds.
type area struct {
	Name  string
	Kinds []kindLink
}

// kindLink leads to the records of a kind.
type kindLink struct{ Name, Summary, URL string }

// show shows the page. It sends no statements to the ERP.
func (h start) show(x *edge.Context) error {
	page := startPage{
		Page:    frame(x, "Start"),
		Areas:   areasOf(x),
		Refresh: refreshed(x.Base+Root, nil),
	}
	if h.config.HasDocs {
		page.API = linksUnder(x.Base, manual)
	}
	page.API = append(page.API, linksUnder(x.Base, descriptions)...)
	if x.Identity.Role.Includes(account.Admin) {
		h.addAdministration(x, &page)
	}
	return show(x, http.StatusOK, "start", page)
}

// addAdministration adds the parts of the page that only administrators see.
func (h start) addAdministration(x *edge.Context, page *startPage) {
	page.Admin = linksUnder(x.Base, administration)
	if h.config.HasRequestLog {
		page.Requests = linksUnder(x.Base, requestLists)
	}
	if !h.config.Webhooks {
		return
	}
	deliveries, err := h.newBoard(x)
	if err != nil {
		page.Problem = "The statistics are missing: " + fault.From(err).Message + "."
		return
	}
	page.Board = deliveries
}

// areasOf returns the record kinds that the user may read, by area.
func areasOf(x *edge.Context) []area {
	var areas []area
	byName := make(map[string]int)
	kinds := x.Options.Kinds().Filter(func(k *record.Kind) bool { return queries.MayRead(x, k) })
	for _, k := range kinds.Kinds() {
		i, ok := byName[k.Area]
		if !ok {
			i = len(areas)
			byName[k.Area] = i
			areas = append(areas, area{Name: k.Area})
		}
		areas[i].Kinds = append(areas[i].Kinds, kindLink{k.Name, k.Summary, x.Base + recordsPath(k.Name)})
	}
	return areas
}

// board has the statistics of deliveries in the last hour.
type board struct {
	Delivered, Failed string // messages
	FailedAttempts    string // empty for none
	Share             string // of the delivered ones
	P50, P95          string
	Chart             chart
	Queue             []string
	Trouble           []*subscriptionView
	More              int // endpoints in trouble that are not shown
	Fine              int // endpoints without trouble
	Paused            string
	FailedURL         string
	RetryingURL       string
	Subscriptions     string
}

// maxTrouble is the maximum number of endpoints in trouble on the page.
const maxTrouble = 6

// newBoard returns the statistics of the last hour.
func (h start) newBoard(x *edge.Context) (*board, error) {
	var stats wire.Stats
	if err := h.get(x, apiStats, nil, &stats); err != nil {
		return nil, err
	}
	since := x.Timing.Start.Add(-time.Hour).UTC().Truncate(time.Minute).Format(time.RFC3339)
	withStatus := func(s webhook.Status) string {
		return x.Base + pathMessages + "?" + fieldStatus + "=" + strconv.Itoa(int(s))
	}
	b := &board{
		Delivered:   count(stats.Totals.Delivered),
		Failed:      count(stats.Totals.GivenUp),
		Share:       share(stats.Totals.Delivered, stats.Totals.GivenUp),
		Paused:      stats.InHand.Paused,
		Chart:       chartOf(&stats.Minutes),
		FailedURL:   withStatus(webhook.Failed) + "&LastSavedDateTimeGreaterThanOrEqualTo=" + url.QueryEscape(since),
		RetryingURL: withStatus(webhook.RetryPending),
	}
	if failed := stats.Totals.Failed + stats.Totals.GivenUp; failed > 0 {
		b.FailedAttempts = display.Count(failed, "failed attempt", "failed attempts")
	}
	b.Subscriptions = display.Count(stats.Subscriptions, "subscription", "subscriptions")
	if stats.Disabled > 0 {
		b.Subscriptions += ", " + strconv.Itoa(stats.Disabled) + " disabled"
	}
	if stats.SuccessRate != nil { // there were attempts, and so there are durations
		b.P50 = took(time.Duration(stats.Latency.P50))
		b.P95 = took(time.Duration(stats.Latency.P95))
	}
	b.Queue = queueWords(x, &stats)
	b.addEndpoints(x, subscriptions{everyone(h.client)}, &stats)
	return b, nil
}

// queueWords describes the messages that wait, empty if they have not been counted.
func queueWords(x *edge.Context, stats *wire.Stats) []string {
	depth := stats.Depth
	if depth == nil {
		return nil
	}
	words := []string{
		count(depth.NotSent) + " not sent",
		count(depth.RetryPending) + " retrying",
		count(int64(stats.InHand.InFlight)) + " in flight",
	}
	if oldest := time.Time(depth.OldestDateTime); !oldest.IsZero() {
		words = append(words, "oldest waits "+display.Age(x.Timing.Start.Sub(oldest)))
	}
	return words
}

// addEndpoints adds the endpoints in trouble, as many as fit the page, and the numbers of the others.
func (b *board) addEndpoints(x *edge.Context, views subscriptions, stats *wire.Stats) {
	for i := range stats.Queues {
		q := &stats.Queues[i]
		v := views.newView(x, wire.Subscription{
			RecID:          q.SubscriptionID,
			SubscriberID:   q.SubscriberID,
			EventName:      q.EventName,
			URL:            q.URL,
			IsEnabled:      q.IsEnabled,
			DisabledReason: q.DisabledReason,
		}, q)
		v.Subscriber = cmp.Or(q.SubscriberName, "a subscriber")
		switch {
		case v.State.rank == rankFine:
			b.Fine++
		case len(b.Trouble) == maxTrouble:
			b.More++
		default:
			b.Trouble = append(b.Trouble, v)
		}
	}
	b.More += stats.OtherTroubled
	b.Fine += stats.OtherQueues - stats.OtherTroubled
}

// share describes the share of the delivered among those that are delivered or have failed, empty
// without any.
func share(delivered, failed int64) string {
	if delivered+failed == 0 {
		return ""
	}
	return display.Percent(float64(delivered)/float64(delivered+failed)) + " %"
}

// chart is a chart of the attempts of each minute, as shapes of an SVG.
type chart struct {
	Label  string // a description for screen readers
	Max    string
	Bars   []bar
	From   string
	IsNone bool
}

// bar is a rectangle of a chart.
type bar struct {
	X, Y, Width, Height float64
	Class, Title        string
}

// Measures of a chart.
const (
	chartWidth  = 600.0
	chartHeight = 90.0  // of the delivered
	chartBase   = 100.0 // below which the failed are
	failHeight  = 30.0
)

// chartOf returns the chart of the minutes.
func chartOf(m *wire.Minutes) chart {
	var most, failed int64
	for i := range m.Delivered {
		most = max(most, m.Delivered[i])
		failed = max(failed, failures(m, i))
	}
	c := chart{Max: count(most), IsNone: most == 0 && failed == 0}
	c.From = time.Time(m.From).UTC().Format("15:04")
	c.Label = fmt.Sprintf("Attempts by minute since %s: at most %d delivered and %d failed attempts in a minute",
		c.From, most, failed)
	if len(m.Delivered) == 0 {
		return c
	}
	width := chartWidth / float64(len(m.Delivered))
	for i := range m.Delivered {
		minute := time.Time(m.From).Add(time.Duration(i) * time.Minute).UTC().Format("15:04")
		x := float64(i)*width + 1
		if n := m.Delivered[i]; n > 0 {
			height := max(2, float64(n)/float64(most)*chartHeight)
			title := minute + ": " + count(n) + " delivered"
			c.Bars = append(c.Bars, bar{x, chartBase - height, width - 2, height, "good", title})
		}
		if n := failures(m, i); n > 0 {
			height := max(2, float64(n)/float64(failed)*failHeight)
			title := minute + ": " + display.Count(n, "failed attempt", "failed attempts")
			c.Bars = append(c.Bars, bar{x, chartBase + 2, width - 2, height, "bad", title})
		}
	}
	return c
}

// failures returns the failed attempts of a minute.
func failures(m *wire.Minutes, i int) int64 { return m.Failed[i] + m.GivenUp[i] }

// linksUnder returns links to pages of the service at the address base.
func linksUnder(base string, pages []encode.Link) []encode.Link {
	var links []encode.Link
	for _, page := range pages {
		links = append(links, encode.Link{Name: page.Name, URL: base + page.URL})
	}
	return links
}

// manual is the manual.
var manual = []encode.Link{{Name: "Manual", URL: "/docs"}}

// descriptions lists the descriptions of the API.
var descriptions = []encode.Link{
	{Name: "API reference", URL: "/metadata"},
	{Name: "OpenAPI and types", URL: pathOpenAPI},
}

// requestLists lists the lists of logged requests.
var requestLists = []encode.Link{
	{Name: "Today", URL: "/Logs/Today"},
	{Name: "Errors of today", URL: "/Logs/Today?StatusCodeGreaterThanOrEqualTo=400"},
	{Name: "All", URL: "/Logs"},
}

// administration lists the pages for administrators.
var administration = []encode.Link{
	{Name: "Users", URL: pathUsers},
	{Name: "API keys", URL: pathKeys},
	{Name: "Settings", URL: pathSettings},
	{Name: "Captures", URL: pathCaptures},
	{Name: "Record kinds", URL: pathKinds},
	{Name: "Audit trail", URL: "/Queries/WH_Audit"},
}
