package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestWaitingMessages checks that the next try of a message is the reason if it is due and not sent:
// its endpoint requested a wait or fails, a rate limit delays it, or it is held.
func TestWaitingMessages(t *testing.T) {
	const (
		waits = `"WaitUntilDateTime":"/Date(1783502531000+0000)/"` // 12 minutes later
		rates = `"RateUntilDateTime":"/Date(1783501814000+0000)/"` // 3 seconds later
		holds = `"HeldEvents":["inventory.updated"]`
		fails = `"Breaker":"open","NextProbeDateTime":"/Date(1783501871000+0000)/"` // a minute later
	)
	const limited = "rate limit, next in 3s"
	nextTries := []string{"messages", "list", "--fields", "NextAttemptDateTime"}
	waiting := "to wait until " + time.UnixMilli(1783502531000).Format("15:04")
	for _, tt := range []struct {
		queue string
		want  map[string]int // number of lines
		args  []string
	}{
		{waits, map[string]int{waiting: 2, " due": 0}, []string{"messages", "list"}},
		{holds, map[string]int{" held ": 2, " due": 0, "until": 0}, []string{"messages", "list"}},
		{rates, map[string]int{limited: 1, " due": 0, "in 5m": 1}, []string{"messages", "list"}},
		{rates, map[string]int{limited: 1}, []string{"subscriptions", "list"}},
		{fails, map[string]int{"breaker open": 1, " due": 0, "in 5m": 1}, []string{"messages", "list"}},
		{`"Pending":1`, map[string]int{" due ": 1, "in 5m": 1, "until": 0}, []string{"messages", "list"}},
		{waits, map[string]int{waiting: 2, "due": 0}, nextTries},
		{holds, map[string]int{"held": 2, "due": 0}, nextTries},
		{rates, map[string]int{limited: 1, "due": 0, "in 5m": 1}, nextTries},
		{waits, map[string]int{waiting: 1}, []string{"messages", "show", messageID}},
		{waits, map[string]int{waiting: 1}, []string{"subscriptions", "list"}},
	} {
		got := invocation{
			terminal: true,
			width:    220,
			handler: serveListedWith("/Webhooks/Stats",
				fmt.Sprintf(`{"Queues":[{"SubscriptionID":%q,"IsEnabled":true,%s}]}`, subscriptionID, tt.queue)),
		}.run(t, tt.args...)
		for text, want := range tt.want {
			lines := 0
			for line := range strings.Lines(got.stdout) {
				if strings.Contains(line, text) {
					lines++
				}
			}
			if lines != want {
				t.Errorf("whctl %q with a queue of %s: %q is on %d lines, want %d:\n%s",
					tt.args, tt.queue, text, lines, want, got.stdout)
			}
		}
	}
}

// TestNextTryOfChosenFields checks that the fields that decide about the next try are requested with
// it, for a terminal only.
func TestNextTryOfChosenFields(t *testing.T) {
	for args, want := range map[string]string{
		"":      "NextAttemptDateTime,Status,SubscriptionID,EventName",
		"--csv": "NextAttemptDateTime",
	} {
		requested := ""
		got := invocation{
			terminal: true,
			handler: func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/Webhooks/Messages" {
					requested = r.URL.Query().Get("Fields")
				}
				serveListed(w, r)
			},
		}.run(t, strings.Fields("messages list --fields NextAttemptDateTime "+args)...)
		if requested != want {
			t.Errorf("with %q, the fields %s are requested, want %s; %v", args, requested, want, got)
		}
	}
}

// TestNextTryOn80Cells checks that a terminal with 80 cells shows the next try of messages if one of
// them waits, and their ages if none does.
func TestNextTryOn80Cells(t *testing.T) {
	for _, tt := range []struct {
		messages      []string
		shown, hidden string
	}{
		{listedMessages(), "Next try", "Age"},
		{listedMessages()[1:2], "Age", "Next try"},
	} {
		got := invocation{
			terminal: true,
			width:    80,
			handler:  serveListedWith("/Webhooks/Messages", pageOf(tt.messages...)),
		}.run(t, "messages", "list", "--table")
		titles, _, _ := strings.Cut(got.stdout, "\n")
		hasBoth := strings.Contains(titles, "Endpoint") && strings.Contains(titles, tt.shown)
		if !hasBoth || strings.Contains(titles, tt.hidden) {
			t.Errorf("%d messages on 80 cells have the titles %q, want Endpoint and %s without %s",
				len(tt.messages), titles, tt.shown, tt.hidden)
		}
	}
}

// serveListedWith serves as serveListed does, but for the document at one path.
func serveListedWith(path, document string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			serveListed(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, document)
	}
}
