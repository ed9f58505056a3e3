package tui_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// quantile returns a quantile of durations.
func quantile(times []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// wideKind returns a kind with 24 fields, like the widest business records.
func wideKind() record.Kind {
	kind := record.Kind{Name: "SO_Wide", Area: "Sales", Summary: "Wide", Table: "SO_Wide"}
	for i := range 24 {
		f := record.Field{Name: fmt.Sprintf("Column%02dTotal", i), Type: record.Text, Filter: record.TextFilter, Null: record.Nullable}
		if i%3 == 1 {
			f.Type, f.Filter = record.Decimal, record.OrderedFilter
		}
		if i == 0 {
			f.Null = record.NotNull
		}
		kind.Fields = append(kind.Fields, f)
	}
	return kind
}

// widePage returns a page of its rows with non-Latin text and nulls.
func widePage(t testing.TB, kind *record.Kind, number int) []client.Row {
	t.Helper()
	var rows []client.Row
	for n := number * grid.PageRows; n < (number+1)*grid.PageRows; n++ {
		members := make(map[string]any)
		for i, f := range kind.Fields {
			switch {
			case i == 0:
				members[f.Name] = fmt.Sprintf("D%05d", n)
			case f.Type == record.Decimal:
				members[f.Name] = json.Number(fmt.Sprintf("%d.%02d", n*7919%100000, i))
			case i%7 == 2:
				members[f.Name] = fmt.Sprintf("Müller & Söhne №%d 世界株式会社", n)
			case i%7 != 5:
				members[f.Name] = fmt.Sprintf("text %d of row %d", i, n)
			}
		}
		text, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		row, err := client.ParseRow(text)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// wideBrowser is an app at 200x60 that shows 12,000 rows of 24 columns.
type wideBrowser struct {
	app  *tui.App
	b    *browse.Browser
	kind *record.Kind
}

const wideRows = 12_000

func newWideBrowser(t testing.TB) *wideBrowser {
	t.Helper()
	registry, err := record.NewRegistry(wideKind())
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := registry.Lookup("SO_Wide")
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Registry: registry, Output: nil})
	w := &wideBrowser{app: d.App, b: browse.New(d.App, kind, nil, browse.Options{}), kind: kind}
	d.App.PushIn(tui.RecordsTab, w.b)
	d.Resize(200, 60)
	w.b.Pages.SetTotal(w.b.Pages.Generation(), wideRows)
	w.feed(t)
	return w
}

// feed loads the missing pages near the selected row.
func (w *wideBrowser) feed(t testing.TB) {
	t.Helper()
	first, last := w.b.Grid.Window()
	for number := first / grid.PageRows; number <= min(last, wideRows-1)/grid.PageRows; number++ {
		if w.b.Pages.Row(number*grid.PageRows) == nil {
			w.app.Update(ui.Response{To: w.b, Apply: func() tea.Cmd {
				return w.b.Put(w.b.Pages.Generation(), number, browse.FetchedRows{Rows: widePage(t, w.kind, number)}, nil)
			}})
		}
	}
}

// BenchmarkHeap measures the memory of the app after all 12,000 rows were visible.
func BenchmarkHeap(b *testing.B) {
	for range b.N {
		before := heap()
		w := newWideBrowser(b)
		for at := 0; at < wideRows; at += 50 {
			w.b.Grid.GoTo(at)
			w.feed(b)
			w.app.Update(tea.KeyMsg{Type: tea.KeyDown})
			_ = w.app.View()
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "heap-MB")
		runtime.KeepAlive(w)
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// hostileText contains control sequences, invisible characters and characters of
// ambiguous width.
const hostileText = "\x1b[31mred\x1b]52;c;aGk=\a\x1b]0;title\a\u009b31m\u202eright\u2066to left\u200b\u00ad\ufeff e\u0301\u0301\u0301\u0301\u0301 世界 \x00\x07\b\r\n\t\x7f👩‍👩‍👧‍👦"

// Allowed output: styles, and no other sequences.
var (
	anSGR   = regexp.MustCompile("\x1b\\[[0-9;]*m")
	inertly = regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
)

// checkSanitized fails if the screen contains control characters.
func checkSanitized(d *tuitest.Driver, where string) {
	d.T.Helper()
	d.CheckScreen()
	if bad := inertly.FindString(anSGR.ReplaceAllString(d.App.View(), "")); bad != "" {
		d.T.Errorf("%s draws %q", where, bad)
	}
}

// Control sequences in records, messages, headers, errors and names do not reach the
// terminal.
func TestHostileTextIsSanitized(t *testing.T) {
	i := daemontest.Start(t)
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{Profile: hostileText, User: hostileText})
	checkSanitized(d, "the first line")
	d.App.ShowError(hostileText, &client.Error{Kind: client.Rejected, Message: hostileText, RequestID: hostileText})
	checkSanitized(d, "a failure")
	d.Press("ctrl+e")
	checkSanitized(d, "the list of errors")
	d.Press("esc", "esc")

	list := messages.New(d.App, ui.MessageFilter{Label: hostileText})
	d.App.PushIn(tui.MessagesTab, list)
	d.Resize(100, 30)
	one := wire.Message{MessageID: hostileText, SubscriberID: hostileText, SubscriptionID: hostileText, EventName: hostileText, URL: "https://a.test/" + hostileText, Body: `{"a":"` + hostileText + strings.Repeat(hostileText, 20_000) + `"}`,
		LastMessageResponseMessage: hostileText, Status: 2}
	d.Respond(list, nil, func(error) tea.Cmd { return list.Put(list.Pages.Generation(), 0, []wire.Message{one}, 1) })
	checkSanitized(d, "the list of messages")
	s := messages.NewDetail(list, one)
	d.App.Push(s)
	d.Resize(100, 30)
	parts := messages.MessageParts{Headers: []wire.Header{{Name: hostileText}}, NoHeaders: hostileText,
		Responses: []wire.Attempt{{MessageResponse: wire.MessageResponse{ItemNo: 1, Message: hostileText, Duration: hostileText}, AnswerText: new(hostileText)}}}
	d.Respond(s, nil, func(error) tea.Cmd {
		return s.OnFetched(messages.FetchedMessage{Message: one, MessageParts: parts}, nil)
	})
	for _, tab := range messages.MessageTabs {
		checkSanitized(d, "the tab "+tab.Name)
		d.Press("tab")
	}
	d.Press("v", "r")
	checkSanitized(d, "a question")
	d.Press("esc")
	d.App.SetJobs(&export.Job{Name: hostileText, Path: hostileText, Err: fmt.Errorf("%s", hostileText), Ended: d.Clock})
	d.Press("J")
	checkSanitized(d, "the exports")
	d.Press("esc", ":", "'bill")
	d.App.Line().Set(hostileText)
	checkSanitized(d, "a line that is typed")
	d.Press("esc")
	d.Send(billValueResponse(d, client.BillField{BillID: hostileText, StageID: hostileText, SettingID: hostileText}, &wire.CustomFieldValue{SettingName: new(hostileText), Contents: new(hostileText)}))
	checkSanitized(d, "a bill's field")
	d.Press("'x", "ctrl+s")
	checkSanitized(d, "both values of a bill's field")
}
