package admin

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/webhook"
)

// TestNextSecret checks which secrets can replace the current one, and that errors do not repeat
// those that cannot.
func TestNextSecret(t *testing.T) {
	current, chosen := webhook.NewSecret(), webhook.NewSecret()
	if got, err := nextSecret(current, chosen); err != nil || got != chosen {
		t.Errorf("given secret: %v", err)
	}
	if got, err := nextSecret(current, ""); err != nil || got == current || got == "" {
		t.Errorf("generated secret: %v", err)
	}
	for _, wanted := range []string{
		current,
		"whsec_",
		"whsec_c2hvcnQ=",
		strings.TrimPrefix(chosen, webhook.SecretPrefix),
		chosen + "=",
		"whsec_" + strings.Repeat("A", 88),
	} {
		_, err := nextSecret(current, wanted)
		if err == nil {
			t.Errorf("%.12s... is accepted", wanted)
			continue
		}
		text := strings.TrimPrefix(wanted, webhook.SecretPrefix)
		if text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%.12s... is repeated in the error: %v", wanted, err)
		}
	}
}

// TestRotationIsPossibleFrom checks that a rotation is accepted at the time that its refusal names,
// and not before. More secrets sign than a SubscriberID alone allows, since admins may have more.
func TestRotationIsPossibleFrom(t *testing.T) {
	now := time.Date(2026, 11, 29, 21, 0, 0, 0, time.UTC)
	for _, by := range []Caller{{}, {Admin: true}} {
		sub := webhook.Subscription{Secret: webhook.NewSecret()}
		for _, minutes := range []int{7, 2, 9, 4} {
			until := now.Add(time.Duration(minutes)*time.Minute + 300*time.Millisecond)
			replaced := webhook.ReplacedSecret{Secret: webhook.NewSecret(), Until: until}
			sub.Earlier = append(sub.Earlier, replaced)
		}
		n := NewSecret{KeepFor: time.Minute}
		_, err := n.rotation(&sub, now, by)
		if err == nil {
			t.Fatalf("%+v: a rotation is accepted while five secrets sign", by)
		}
		want := now.Add(2*time.Minute + time.Second)
		if !by.Admin {
			want = now.Add(9*time.Minute + time.Second)
		}
		if !strings.Contains(err.Error(), want.Format(time.RFC3339)) {
			t.Errorf("%+v: the error does not name %v: %v", by, want, err)
		}
		if _, err := n.rotation(&sub, want.Add(-time.Second), by); err == nil {
			t.Errorf("%+v: a rotation is accepted a second before %v", by, want)
		}
		if _, err := n.rotation(&sub, want, by); err != nil {
			t.Errorf("%+v: a rotation at %v: %v", by, want, err)
		}
	}
}

// shortPages has messages with the IDs 1 to last. Pages of more than one message lack
// every second one, as if it had changed while the page was read.
type shortPages struct {
	Store
	last  int64
	reads int
}

func (s *shortPages) LastMessage(context.Context) (int64, error) { return s.last, nil }

func (s *shortPages) page(_ context.Context, after, last int64, limit int) (page []Candidate, err error) {
	s.reads++
	for id := after + 1; id <= min(last, after+int64(limit)); id++ {
		if id%2 == 1 || limit == 1 {
			page = append(page, Candidate{ID: id})
		}
	}
	return page, nil
}

// TestShortPages checks that a bulk operation continues after a page that is not full, and
// that it ends.
func TestShortPages(t *testing.T) {
	for _, c := range []struct {
		last    int64
		limit   int64
		matched int64
	}{
		{0, Unlimited, 0},
		{1, Unlimited, 1},
		{5*bulkPageSize + 1, Unlimited, 5*bulkPageSize/2 + 1},
		{5*bulkPageSize + 1, bulkPageSize, bulkPageSize},
	} {
		s := &shortPages{last: c.last}
		service := New(s, struct{ Notifier }{}, nil, nil)
		selection := Selection{Select: s.page, Max: c.limit, DryRun: true}
		result, err := service.RemoveMessages(t.Context(), selection, audit.System())
		if err != nil {
			t.Fatal(err)
		}
		if result.Matched != c.matched || result.Done != c.matched {
			t.Errorf("up to %d, with the limit %d: got %+v, want %d matched and done", c.last, c.limit, result, c.matched)
		}
		if s.reads > 12 {
			t.Errorf("up to %d, with the limit %d: %d pages were read, want at most 12", c.last, c.limit, s.reads)
		}
	}
}
