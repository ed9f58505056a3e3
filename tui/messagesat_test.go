package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// at has the list as it was at a time: without what was added since, whatever
// comes in, for what is exported and retried too, until F ends it.
func TestMessagesAsOfATime(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4")
	d.sees("of 8", "following")
	s.raise(t, "salesorder.created", `{"InvoiceNo":"late"}`, 1)
	m := d.app.front().(*messages)
	m.filter.at = time.Time(m.known[m.pages.Row(0).ID].AddedDateTime).Add(-time.Nanosecond).Truncate(time.Second)
	held := 0
	for _, one := range m.known {
		if !time.Time(one.AddedDateTime).After(m.filter.at) {
			held++
		}
	}
	d.press("R")
	if got := m.pages.Total(); got != held {
		t.Errorf("%d messages up to %s, want %d", got, m.filter.at, held)
	}
	m.change(wire.MessageChange{MessageID: "new", SubscriptionID: s.bad})
	if len(m.news) != 0 {
		t.Error("a new message counts")
	}
}

// The time is a chip, a part of the command that shows the same and of what is
// meant by all, and goes with F or with at alone.
func TestAtIsAFilter(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.clock, d.app.burst = time.Date(2026, 7, 1, 14, 2, 6, 0, time.UTC), burst{}
	say := func(text string) {
		d.press(":", "'"+text, "enter")
	}
	m := func() *messages { return d.app.front().(*messages) }
	d.press("4")
	say("at 13:00")
	d.sees("Messages  [at 13:00]", "no messages", "no new ones come in")
	if want := ` --where "AddedDateTime<=2026-07-01T13:00:00Z"`; !strings.Contains(m().twin(), want) {
		t.Errorf("the same is %s, want %s", m().twin(), want)
	}
	d.press("a")
	if all := m().meant(); all.Get("AddedDateTimeLessThanOrEqualTo") != "2026-07-01T13:00:00Z" {
		t.Errorf("all are %v", all)
	}
	if e := m().exportable(); len(e.query.Where) != 1 {
		t.Errorf("exported is %v", e.query.Where)
	}
	if v := m().viewed(); len(v.Where) != 1 || v.Where[0] != "AddedDateTime<=2026-07-01T13:00:00Z" {
		t.Errorf("a view keeps %v", v.Where)
	}
	say("at 2026-06-30 23:59:58")
	d.sees("[at 2026-06-30 23:59:58]")
	d.press("!")
	d.sees("[problems]  [at 2026-06-30 23:59:58]")
	d.press("F")
	d.sees("of 8", "following")
	say("at -2h")
	d.sees("[at 12:0")
	say("at")
	d.sees("of 8", "following")
	say("at")
	d.sees(":at 13:00 holds the list at that time")
}

func TestAtIsRefused(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.clock, d.app.burst = time.Date(2026, 7, 1, 14, 2, 6, 0, time.UTC), burst{}
	for _, test := range []struct {
		keys []string
		say  string
	}{
		{[]string{"4", ":", "'at noon", "enter"}, "at must be a time such as 2h, 3d, today, 13:00"},
		{[]string{"4", ":", "'at 15:00", "enter"}, "at must be a time that has passed, such as 2026-06-30 14:02"},
		{[]string{"3", ":", "'at 13:00", "enter"}, "at is for the list of messages: :Messages opens it"},
		{[]string{"4", "/", "'AddedDateTime<=2026-01-01", "enter", ":", "'at 13:00", "enter"}, "AddedDateTime <= stands twice"},
		{[]string{"4", "F", ":", "'at 13:00", "enter", "/", "'AddedDateTime<=today", "enter"}, "AddedDateTime <= stands twice"},
	} {
		d.press(test.keys...)
		d.sees(test.say)
		d.press("esc")
		d.app.line = nil
	}
}
