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
	for _, c := range []struct {
		terminal bool
		flags    string
		whole    bool
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
		whole := strings.Contains(got.stdout, "1f0c0000-0000-4000-8000-000000009ab2")
		if got.code != 0 || whole != c.whole || !whole && !strings.Contains(got.stdout, "1f0c..9ab2") {
			t.Errorf("terminal %t, %s: exit %d, %q", c.terminal, c.flags, got.code, got.stdout)
		}
	}
}

// A bulk retry prompts with the number of messages. If fewer are retried, the exit
// code is that of a partial success.
func TestBulkRetryPromptsWithCount(t *testing.T) {
	for _, c := range []struct {
		answer, done string
		code, sent   int
	}{
		{answer: "y\n", done: "37", code: 0, sent: 2},
		{answer: "n\n", done: "37", code: 9, sent: 1},
		{answer: "\n", done: "37", code: 9, sent: 1},
		{answer: "y\n", done: "30", code: 7, sent: 2},
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
		got := invocation{prompter: cmdline.Prompter{
			Keyboard: keyboard,
			Watches:  true,
		}, handler: func(w http.ResponseWriter, r *http.Request) {
			sent++
			body, _ := io.ReadAll(r.Body)
			retried := c.done
			if strings.Contains(string(body), `"DryRun":"true"`) {
				retried = "37"
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"Matched":49,"Retried":`+retried+`,"Skipped":12}`)
		}}.run(t, "messages", "retry", "--where", "Status=3")
		if got.code != c.code || sent != c.sent || !strings.Contains(got.stderr, ": retry 37 messages? [y/N] ") {
			t.Errorf("answer %q: exit %d, %d requests, stderr %q", c.answer, got.code, sent, got.stderr)
		}
	}
}
