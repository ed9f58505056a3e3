package sqlstore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// emptyBlock matches a block that SQL Server rejects (error 102), although
// Babelfish accepts it.
var emptyBlock = regexp.MustCompile(`(?i)\bBEGIN(\s|--.*\n)*END\b`)

// TestNoEmptyBlocks checks that no statement or script for SQL Server has an empty
// block.
func TestNoEmptyBlocks(t *testing.T) {
	files, err := filepath.Glob("../../*/testdata/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "testdata/webhookbatch.sql", "../../requestlog/sqlstore/testdata/requestlog.sql")
	scripts, err := filepath.Glob("../../../cmd/daemon/deploy/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	migrations, err := filepath.Glob("../../appdb/schema/mssql/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for kind, group := range map[string][]string{"goldens": files, "scripts": scripts, "migrations": migrations} {
		if len(group) < 2 {
			t.Errorf("found %d %s: %q", len(group), kind, group)
		}
		for _, file := range group {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := emptyBlock.FindIndex(text); found != nil {
				t.Errorf("%s:%d: an empty block", file, 1+strings.Count(string(text[:found[0]]), "\n"))
			}
		}
	}
	statement, args := serverBatch(&delivery.Batch{}, nil, sql.Named("Holder", "h"))
	if strings.Contains(statement, "BEGIN\n") || len(args) != 3 {
		t.Errorf("a batch without rows has %d arguments, want 3, and no block:\n%s", len(args), statement)
	}
}

// maxParameters is the limit of a call of sp_executesql.
const maxParameters = 2100 - 2

// expectParameters checks that a statement uses each argument, by a unique name,
// and that their number is within the limit.
func expectParameters(t *testing.T, name, statement string, args []any) {
	t.Helper()
	if len(args) > maxParameters {
		t.Errorf("%s: %d parameters, more than %d", name, len(args), maxParameters)
	}
	used := make(map[string]bool)
	for _, name := range parameter.FindAllString(statement, -1) {
		used[strings.TrimPrefix(name, "@")] = true
	}
	for _, a := range args {
		arg := a.(sql.NamedArg).Name
		if !used[arg] {
			t.Errorf("%s: @%s is a duplicate or not used", name, arg)
		}
		used[arg] = false
	}
}

// TestParametersOfBatches checks that the largest batches of the engine do not
// exceed the limit of parameters: an outbox of 6,000 rows for 6 subscriptions, with
// as many attempts as a batch can have, each with a response, and as many disabled
// subscriptions.
func TestParametersOfBatches(t *testing.T) {
	const outbox = 6000
	for first := 1; first <= outbox; first += delivery.MaxBatchEvents {
		events := min(delivery.MaxBatchEvents, outbox-first+1)
		b := largestBatch(first, events)
		statement, args := serverBatch(&b, new(messageBlocks).changed(b.Messages), sql.Named("Holder", "h"))
		expectParameters(t, fmt.Sprintf("%d events from row %d", events, first), statement, args)
	}
}

// largestBatch returns a batch of events from rows of an outbox, with all that a batch can have
// besides.
func largestBatch(firstRow, events int) delivery.Batch {
	const (
		subscriptions = 6
		attempts      = 512
	)
	l := delivery.Lease{Partition: 1, Fence: 2}
	r := webhook.Subscription{ID: 7, URL: "https://shop.example/in"}
	b := hookBatch(3, int64(1000*firstRow), events, r, l, "{}")
	for i := range events {
		b.Outbox = append(b.Outbox, int64(firstRow+i))
		b.Taken = append(b.Taken, fmt.Sprint(firstRow+i))
		for s := 1; s < subscriptions; s++ {
			m := *b.Messages[i]
			m.ID += int64(1e9 * s)
			m.Subscription = int64(7 + s)
			b.Messages = append(b.Messages, &m)
		}
	}
	b.Outcomes = succeeded(b)[:attempts]
	for i := range b.Outcomes {
		id := int64(i)
		b.Outcomes[i].Detail = fmt.Sprintf("why %d", i)
		b.Outcomes[i].Text = fmt.Appendf(nil, "<p>\"%d\"</p>\n", i)
		b.Disabled = append(b.Disabled, delivery.Disabled{Subscription: id, Reason: "gone", At: hookNoon})
		b.Health = append(b.Health, delivery.Health{Subscription: id, Since: hookNoon})
		b.PeerEvents = append(b.PeerEvents, delivery.PeerEvent{Subscription: id, Kind: delivery.PeerAdded})
		b.Keys = append(b.Keys, delivery.Key{Event: fmt.Sprint(i), Until: hookNoon.Add(time.Hour)})
	}
	b.Captured = &delivery.Captured{Changes: []delivery.CapturedChange{{ID: 1, Number: 2}}}
	return b
}

// TestAnswersInPieces checks that responses are sent in pieces that Babelfish does
// not truncate, even if every character is escaped.
func TestAnswersInPieces(t *testing.T) {
	for _, answer := range []string{
		"",
		"short",
		strings.Repeat("\n", 2*webhook.MaxResponseText),
		strings.Repeat("é", webhook.MaxResponseText),
		strings.Repeat("\U0001F980\"", webhook.MaxResponseText),
	} {
		w := &batchText{}
		outcome := webhook.Outcome{Text: []byte(answer), Began: hookNoon}
		result := webhook.AttemptResult{Message: &webhook.Message{}, Outcome: outcome}
		w.outcomes(&delivery.Batch{Outcomes: []webhook.AttemptResult{result}})
		var pieces []string
		for _, arg := range w.args {
			switch arg.(sql.NamedArg).Name {
			case "Outcomes1":
				pieces = append(pieces, inRows(t, arg, "AnswerText", resultColumns)...)
			case "Texts":
				for i := range responsePieces {
					pieces = append(pieces, inRows(t, arg, fmt.Sprint("Text", i+1), textPieces)...)
				}
			}
		}

		for i, piece := range pieces {
			if n := len([]rune(piece)); n > 4000 {
				t.Errorf("%.20q: piece %d has %d characters, want at most 4000", answer, i, n)
			}
		}
		restored := strings.Join(pieces, "")
		for _, escape := range w.escapes.sequences() {
			restored = strings.ReplaceAll(restored, escape.sequence, escape.character)
		}
		if want := sanitize(answer, webhook.MaxResponseText); restored != want {
			t.Errorf("%.20q was restored with %d bytes, want %d", answer, len(restored), len(want))
		}
	}
}

// inRows returns the texts of a column from the rows of an argument.
func inRows[T any](t *testing.T, arg any, name string, c columns[T]) []string {
	var rows [][]any
	if err := json.Unmarshal([]byte(fmt.Sprint(arg.(sql.NamedArg).Value)), &rows); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c, func(col column[T]) bool { return col.name == name })
	var texts []string
	for _, row := range rows {
		if text, ok := row[i].(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
