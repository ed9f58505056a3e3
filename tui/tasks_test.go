package tui_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// maxTaskKeys is the number of keys that an everyday task may take, without typed text.
const maxTaskKeys = 7

// task is something that users do every day, from the first screen on.
type task struct {
	name  string
	keys  []string // names that start with ' are typed text
	shown []string // texts on the last screen
	check func(t *testing.T, d *tuitest.Driver)
}

// run does the task in a session of its own and reports its number of keys.
func (task task) run(t *testing.T, d *tuitest.Driver) {
	d.Resize(120, 40)
	presses := 0
	for _, key := range task.keys {
		if !strings.HasPrefix(key, "'") {
			presses++
		}
		d.Press(key)
	}
	d.WantText(task.shown...)
	if task.check != nil {
		task.check(t, d)
	}
	t.Logf("%d keys: %s", presses, strings.Join(task.keys, " "))
	if presses > maxTaskKeys {
		t.Errorf("it takes %d keys, want at most %d", presses, maxTaskKeys)
	}
}

// copied checks the text that was copied last.
func copied(want string) func(*testing.T, *tuitest.Driver) {
	return func(t *testing.T, d *tuitest.Driver) {
		if got := d.LastCopied(); got != want {
			t.Errorf("copied %q, want %q", got, want)
		}
	}
}

// copiedPrefix checks the start of the text that was copied last.
func copiedPrefix(want string) func(*testing.T, *tuitest.Driver) {
	return func(t *testing.T, d *tuitest.Driver) {
		if got := d.LastCopied(); !strings.HasPrefix(got, want) {
			t.Errorf("copied %q, want %q at its start", got, want)
		}
	}
}

// file checks that a file with this ending was written, and that it contains a text.
func file(ending, want string) func(*testing.T, *tuitest.Driver) {
	return func(t *testing.T, d *tuitest.Driver) {
		var files []string
		d.WaitUntil("a file", func() bool {
			files = tuitest.Files(t, d.App.Session.Downloads, "*"+ending)
			return len(files) == 1
		})
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("the file %s starts with\n%.300s\nwant %q in it", files[0], text, want)
		}
	}
}

// TestTasks does everyday tasks with deliveries, each with few keys.
func TestTasks(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	for _, task := range []task{
		{
			name:  "find out why the newest delivery failed",
			keys:  []string{"!", "enter"},
			shown: []string{"400 Bad Request"},
		},
		{
			name:  "read the response of a failing endpoint",
			keys:  []string{"4", "/", "'status=retrying", "enter", "enter"},
			shown: []string{"503 Service Unavailable", "upstream is down"},
		},
		{
			name:  "read the body of the newest message",
			keys:  []string{"4", "enter", "tab"},
			shown: []string{`"InvoiceNo"`, `"D9"`},
		},
		{
			name:  "copy a request as curl",
			keys:  []string{"4", "enter", "shift+tab", "Y"},
			check: copiedPrefix("curl "),
		},
		{
			name:  "see the messages of one subscription",
			keys:  []string{"3", "enter", "enter"},
			shown: []string{"salesorder.created"},
		},
		{
			name:  "see why a subscription is failing",
			keys:  []string{"3", "enter", "j", "i"},
			shown: []string{"503"},
		},
		{
			name:  "send a test message",
			keys:  []string{"3", "enter", "T", "y"},
			shown: []string{"test: "},
		},
		{
			name: "add a subscription with a header and test it",
			keys: []string{
				"3", "enter", "n", "'debtor.deleted", "tab", "'" + s.Receiver + "/new", "tab",
				"'Authorization: Bearer of-the-task", "ctrl+t",
			},
			shown: []string{"debtor.deleted"},
		},
		{
			name:  "disable a subscription",
			keys:  []string{"3", "enter", "o", "y"},
			shown: []string{"disabled"},
		},
		{
			name:  "rename a subscriber",
			keys:  []string{"3", "E", "ctrl+u", "'acme-store", "enter"},
			shown: []string{"acme-store"},
		},
		{
			name:  "subscribe to an event from the list of events",
			keys:  []string{"5", "n"},
			shown: []string{"Subscriber"},
		},
		{
			name:  "retry all failed messages",
			keys:  []string{"4", "/", "'status=failed", "enter", "a", "r", "y"},
			shown: []string{"1"},
		},
		{
			name:  "delete the newest message",
			keys:  []string{"4", "D", "y"},
			shown: []string{"delete"},
		},
		{
			name:  "export the failed messages",
			keys:  []string{"4", "/", "'status=retrying", "enter", "e", "right", "enter"},
			check: file("csv", "debtor.updated"),
		},
	} {
		t.Run(task.name, func(t *testing.T) { task.run(t, s.Open(t, tui.Options{Downloads: t.TempDir()})) })
	}
}

// TestTasksOfRecords does everyday tasks with records, each with few keys.
func TestTasksOfRecords(t *testing.T) {
	c := tuitest.Connect(t, tuitest.DemoDaemon(t))
	for _, task := range []task{
		{
			name: "write the largest invoices over 1,000 to CSV",
			keys: []string{
				":", "'so_totals InvoiceTotal>=1000", "enter", "s", "s", "e", "right", "enter",
			},
			check: file("csv", "InvoiceTotal"),
		},
		{
			name:  "copy one field of a record",
			keys:  []string{":", "'so_totals InvoiceID=D106231", "enter", "enter", "y"},
			check: copied("D106231"),
		},
		{
			name:  "total an amount by group",
			keys:  []string{":", "'INMGT020POQty", "enter", "$", "t"},
			shown: []string{"Count"},
		},
		{
			name:  "see a record as JSON",
			keys:  []string{":", "'so_totals", "enter", "enter", "tab"},
			shown: []string{`"InvoiceID"`},
		},
		{
			name:  "keep rows with the value of a cell",
			keys:  []string{":", "'INMGT020POQty", "enter", "="},
			shown: []string{"["},
		},
		{
			name:  "get the whctl command of a list",
			keys:  []string{":", "'so_totals InvoiceTotal>=1000", "enter", "c"},
			shown: []string{"whctl query SO_Totals"},
		},
	} {
		t.Run(task.name, func(t *testing.T) {
			d := tuitest.Drive(t, c, tui.Options{Downloads: t.TempDir()})
			d.AwaitLive()
			task.run(t, d)
		})
	}
}
