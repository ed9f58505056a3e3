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
	statement, args := serverBatch(&delivery.Batch{}, sql.Named("Holder", "h"))
	if emptyBlock.MatchString(statement) || strings.Contains(statement, "BEGIN\n") || len(args) != 3 {
		t.Errorf("a batch without rows is\n%s", statement)
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
	for _, v := range variable.FindAllString(statement, -1) {
		used[v[1:]] = true
	}
	for _, a := range args {
		if arg := a.(sql.NamedArg).Name; !used[arg] {
			t.Errorf("%s: @%s is a duplicate or not used", name, arg)
		} else {
			used[arg] = false
		}
	}
}

var variable = regexp.MustCompile(`@\w+`)

// TestParametersOfBatches checks that the largest batches of the engine do not
// exceed the limit of parameters: an outbox of 6,000 rows for 6 subscriptions, with
// as many attempts as a batch can have, each with a response, and as many disabled
// subscriptions.
func TestParametersOfBatches(t *testing.T) {
	const (
		outbox        = 6000
		subscriptions = 6
		attempts      = 512
	)
	l := delivery.Lease{Partition: 1, Fence: 2}
	holder := sql.Named("Holder", "h")
	r := webhook.Subscription{ID: 7, URL: "https://shop.example/in"}
	for first := 1; first <= outbox; first += delivery.MaxBatchEvents {
		events := min(delivery.MaxBatchEvents, outbox-first+1)
		b := hookBatch(3, int64(1000*first), events, r, l, "{}")
		for i := range events {
			b.Outbox = append(b.Outbox, int64(first+i))
			b.Taken = append(b.Taken, fmt.Sprint(first+i))
			for s := 1; s < subscriptions; s++ {
				m := *b.Messages[i]
				m.ID += int64(1e9 * s)
				m.Subscription = int64(7 + s)
				b.Messages = append(b.Messages, &m)
			}
		}
		b.Outcomes = succeeded(b)[:attempts]
		for i := range b.Outcomes {
			b.Outcomes[i].Detail = fmt.Sprintf("why %d", i)
			b.Outcomes[i].Text = fmt.Appendf(nil, "<p>\"%d\"</p>\n", i)
			b.Disabled = append(b.Disabled, delivery.Disabled{Subscription: int64(i), Reason: "gone", At: hookNoon})
			b.Health = append(b.Health, delivery.Health{Subscription: int64(i), Since: hookNoon})
			b.PeerEvents = append(b.PeerEvents, delivery.PeerEvent{Subscription: int64(i), Kind: delivery.PeerAdded})
			b.Keys = append(b.Keys, delivery.Key{Event: fmt.Sprint(i), Until: hookNoon.Add(time.Hour)})
		}
		b.Captured = &delivery.Captured{Changes: []delivery.CapturedChange{{ID: 1, Number: 2}}}
		statement, args := serverBatch(&b, holder)
		expectParameters(t, fmt.Sprintf("%d events from row %d", events, first), statement, args)
	}
}

// TestAnswersInPieces checks that responses are sent in pieces that Babelfish does
// not truncate, even if every character is escaped.
func TestAnswersInPieces(t *testing.T) {
	for _, answer := range []string{
		"",
		"short",
		strings.Repeat("\n", 2*maxResponse),
		strings.Repeat("é", maxResponse),
		strings.Repeat("\U0001F980\"", maxResponse),
	} {
		w := &batchText{}
		outcome := webhook.Outcome{Text: []byte(answer), Began: hookNoon}
		w.outcomes([]webhook.AttemptResult{{Message: &webhook.Message{}, Outcome: outcome}})
		pieces := inRows(t, w.args[0], "AnswerText", resultColumns)
		if len(w.args) > 1 {
			for i := range responsePieces {
				pieces = append(pieces, inRows(t, w.args[1], fmt.Sprint("Text", i+1), textPieces)...)
			}
		}
		back := ""
		for _, piece := range pieces {
			if n := len([]rune(piece)); n > 4000 {
				t.Errorf("a piece has %d characters", n)
			}
			back += piece
		}
		for _, sequence := range w.escapes.sequences() {
			back = strings.ReplaceAll(back, sequence.sequence, sequence.character)
		}
		if want := sanitize(answer, maxResponse); back != want {
			t.Errorf("%.20q came back with %d bytes, want %d", answer, len(back), len(want))
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
