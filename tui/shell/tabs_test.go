package shell

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// A closed screen is opened again by going to the previous location.
func TestTabsReopenPreviousLocation(t *testing.T) {
	h := newFakeHost()
	tabs := NewTabs(h)
	tabs.Start()
	tabs.Resize(80, 24)
	detail := &fakeScreen{}
	tabs.Push(detail)
	if detail.started != 1 || detail.width != 78 || detail.height != 24-ui.ChromeHeight {
		t.Errorf("push: started %d times at %dx%d, want once at 78x%d",
			detail.started, detail.width, detail.height, 24-ui.ChromeHeight)
	}

	if _, ok := tabs.Pop(); !ok || !detail.stopped || tabs.Depth() != 1 {
		t.Errorf("pop: closed %v, stopped %v, %d screens; want true, true, 1", ok, detail.stopped, tabs.Depth())
	}
	if _, ok := tabs.Pop(); ok {
		t.Error("pop on the first screen of a tab: closed it")
	}

	tabs.GoToPrevious()
	if tabs.Front() != ui.Screen(detail) || detail.stopped || detail.started != 2 {
		t.Errorf("previous location: front is the screen %v, stopped %v, started %d times; want true, false, 2",
			tabs.Front() == ui.Screen(detail), detail.stopped, detail.started)
	}
}

// Without a previous location, going there only shows a notice.
func TestTabsWithoutPreviousLocation(t *testing.T) {
	h := newFakeHost()
	tabs := NewTabs(h)
	tabs.Start()
	tabs.Resize(80, 24)
	h.overlay = &ui.Form{}
	front := tabs.Front().(*fakeScreen)
	cmd := tabs.GoToPrevious()
	if cmd != nil || tabs.Front() != ui.Screen(front) || front.shown != 0 || h.overlay == nil {
		t.Errorf("previous location: command %v, same screen %v, shown %d times, overlay %T; "+
			"want none, true, 0, the form", cmd != nil, tabs.Front() == ui.Screen(front), front.shown, h.overlay)
	}
	if want := []string{"no previous location"}; !slices.Equal(h.notices, want) {
		t.Errorf("previous location: notices %q, want %q", h.notices, want)
	}

	tabs.Open(RecordsTab)
	tabs.CloseAll() // also forgets the previous location
	tabs.Start()
	tabs.GoToPrevious()
	if tabs.Current() != HomeTab || len(h.notices) != 2 {
		t.Errorf("previous location after all screens were closed: tab %d, notices %q; want Home, a second notice",
			tabs.Current(), h.notices)
	}
}

// A tab that the role does not allow is not opened. Opening another one removes the overlay.
func TestTabsRespectRole(t *testing.T) {
	h := newFakeHost()
	h.session.Access.Role = "reader"
	tabs := NewTabs(h)
	tabs.Start()
	h.overlay = &ui.Form{}
	tabs.Open(MessagesTab)
	if tabs.Current() != HomeTab || h.overlay == nil || len(h.notices) != 1 {
		t.Errorf("a reader opens Messages: tab %d, overlay %T, notices %q; want Home, the form, a reason",
			tabs.Current(), h.overlay, h.notices)
	}
	tabs.Open(RecordsTab)
	if tabs.Current() != RecordsTab || h.overlay != nil {
		t.Errorf("a reader opens Records: tab %d, overlay %T; want Records without overlay", tabs.Current(), h.overlay)
	}
}

// The previous location is not opened if the role no longer allows its tab.
func TestTabsRespectRoleOfPreviousLocation(t *testing.T) {
	h := newFakeHost()
	tabs := NewTabs(h)
	tabs.Start()
	tabs.Open(MessagesTab)
	tabs.Open(RecordsTab)
	h.session.Access.Role = "reader"
	tabs.GoToPrevious()
	if tabs.Current() != RecordsTab {
		t.Errorf("previous location of a reader: got the tab %s, want Records", TabNames[tabs.Current()])
	}
	if want := []string{"Messages: requires the role admin; yours is reader"}; !slices.Equal(h.notices, want) {
		t.Errorf("previous location of a reader: got notices %q, want %q", h.notices, want)
	}
}

// The names of the tabs behind the visible one are short in a narrow terminal.
func TestTabNamesFitWidth(t *testing.T) {
	tabs := NewTabs(newFakeHost())
	tabs.Start()
	for width, want := range map[int]string{80: "Messages", 64: "Msg"} {
		tabs.Resize(width, 24)
		left, _ := tabs.spans()
		var names []string
		for _, span := range left {
			_, name, ok := strings.Cut(span.Text, " ")
			if ok {
				names = append(names, name)
			}
		}
		if !slices.Contains(names, want) {
			t.Errorf("at %d columns the tabs are %q, want %s among them", width, names, want)
		}
	}
}

// The tabs have the numbers of troubles, and those of requests only of the last hour.
func TestTabsShowTroubles(t *testing.T) {
	h := newFakeHost()
	tabs := NewTabs(h)
	tabs.Start()
	tabs.Resize(120, 40)
	s := h.CurrentSession()
	text := func() string {
		spans, _ := tabs.spans()
		var shown strings.Builder
		for _, span := range spans {
			shown.WriteString(span.Text)
		}
		return shown.String()
	}
	s.Queues.Troubles = wire.Troubles{Endpoints: 2, GivenUp: 4512, RetryPending: 8}
	s.FailedRequests.Add(s.Now, 2)
	want := " 1 Home  2 Records  3 Subscribers !2  4 Messages x4.5k ~8  5 Events  6 Requests x2  "
	if got := text(); got != want {
		t.Errorf("the tabs are %q, want %q", got, want)
	}
	s.Now = s.Now.Add(30 * time.Minute)
	s.FailedRequests.Add(s.Now, 1)
	s.Now = s.Now.Add(30 * time.Minute)
	if got := text(); !strings.Contains(got, "6 Requests x1") {
		t.Errorf("an hour after two of three failed requests the tabs are %q, want the third", got)
	}
	s.Access.Role = "reader"
	want = " 1 Home  2 Records  3 Subscribers  4 Messages  5 Events  6 Requests  "
	if got := text(); got != want {
		t.Errorf("without the right, the tabs are %q, want %q", got, want)
	}
}
