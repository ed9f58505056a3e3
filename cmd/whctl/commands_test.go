package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

const acme = `{"RecID":"1f0c0000-0000-4000-8000-000000009ab2","Name":"acme","IsEnabled":true}`

// A SubscriberID grants access like a key: a terminal shows only its first and last
// characters, other output the full ID.
func TestSubscriberIDsAreShortenedOnTerminal(t *testing.T) {
	const id = "1f0c0000-0000-4000-8000-000000009ab2"
	for _, c := range []struct {
		terminal bool
		flags    string
		whole    bool // the ID is not shortened
	}{
		{terminal: true},
		{terminal: true, flags: "--table"},
		{terminal: true, flags: "--format vertical"},
		{terminal: true, flags: "--full", whole: true},
		{terminal: true, flags: "--json", whole: true},
		{terminal: true, flags: "--csv", whole: true},
		{whole: true},
		{flags: "--table", whole: true},
	} {
		args := append([]string{"subscribers", "list", "--fields", "RecID"}, strings.Fields(c.flags)...)
		got := invocation{handler: rows(1, acme), terminal: c.terminal}.run(t, args...)
		want := "1f0c..9ab2"
		if c.whole {
			want = id
		}
		if got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("whctl %q, terminal %t: got %v; want exit code 0, %s", args, c.terminal, got, want)
		}
		if !c.whole && strings.Contains(got.stdout, id) {
			t.Errorf("whctl %q, terminal %t: got the whole ID in %q", args, c.terminal, got.stdout)
		}
	}
}

// TestBulkRetryPromptsWithCount checks that a bulk retry prompts with the number of messages. If
// fewer are retried, the exit code is that of a partial success.
func TestBulkRetryPromptsWithCount(t *testing.T) {
	const counted = "37"
	for _, c := range []struct {
		answer  string
		retried string // number of messages in the reply to the retry
		code    int
		sent    int // number of requests
	}{
		{answer: "y\n", retried: counted, code: 0, sent: 2},
		{answer: "n\n", retried: counted, code: 9, sent: 1},
		{answer: "\n", retried: counted, code: 9, sent: 1},
		{answer: "y\n", retried: "30", code: 7, sent: 2},
	} {
		keyboard, input, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer keyboard.Close()
		if _, err := io.WriteString(input, c.answer); err != nil {
			t.Fatal(err)
		}
		input.Close()

		sent := 0
		handler := func(w http.ResponseWriter, r *http.Request) {
			sent++
			body, _ := io.ReadAll(r.Body)
			retried := c.retried
			if strings.Contains(string(body), `"DryRun":"true"`) {
				retried = counted
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"Matched":49,"Retried":`+retried+`,"Skipped":12}`)
		}
		inv := invocation{
			prompter: cmdline.Prompter{Keyboard: keyboard, Watches: true},
			handler:  handler,
		}
		got := inv.run(t, "messages", "retry", "--where", "Status=3")
		prompt := ": retry 37 messages? [y/N] "
		if got.code != c.code || !strings.Contains(got.stderr, prompt) {
			t.Errorf("answer %q: got %v; want exit code %d, the prompt %q", c.answer, got, c.code, prompt)
		}
		if sent != c.sent {
			t.Errorf("answer %q: sent %d requests, want %d", c.answer, sent, c.sent)
		}
	}
}
