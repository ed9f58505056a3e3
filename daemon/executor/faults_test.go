package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestServerFaults checks that error numbers of a server are errors of the request, if it compares
// with the field (inputErrors), or errors of the database.
func TestServerFaults(t *testing.T) {
	kind := &record.Kind{Name: "SO_Totals", Fields: []record.Field{{Name: "InvoiceTotal"}}}
	table := &Table{Kind: kind, Name: mssql.Table{Schema: "dbo", Name: "v"}}
	const tableName = "dbo.v"
	for _, c := range []struct {
		numbers     []int
		inputErrors bool
		kind        fault.Kind
		want        string
	}{
		{[]int{208}, true, fault.Unavailable, tableName},
		{[]int{207}, true, fault.Unavailable, tableName},
		{[]int{229, 230}, true, fault.Unavailable, "no permission to read " + tableName},
		{[]int{4413, 4502}, true, fault.Unavailable, tableName},
		{[]int{7303, 7314, 7391, 7399}, true, fault.Unavailable, tableName},
		{[]int{512, 537, 3623, 8134}, true, fault.Unavailable, tableName},
		{[]int{596, 9002, 40549, 40553, 40613}, true, fault.Unavailable, "cannot be used"},
		{[]int{1204, 1205, 1222, 3960, 8628}, true, fault.Unavailable, "busy"},
		{[]int{220, 232, 244, 248, 8115}, true, fault.Invalid, "out of range"},
		{[]int{235, 241, 242, 245, 293, 295, 8114, 8169}, true, fault.Invalid, "cannot be compared with its field"},
		{[]int{220, 232, 244, 248, 8115, 235, 241, 245, 293, 295}, false, fault.Unavailable, tableName},
		{[]int{257, 305, 306, 402, 421, 468}, true, fault.Invalid, "type of its column"},
		{[]int{305, 306, 421}, false, fault.Invalid, "type of its column"}, // ORDER BY and DISTINCT have no values
		{[]int{8623, 8632}, true, fault.Invalid, "too complex"},
		{[]int{50000}, true, fault.Internal, ""},
	} {
		for _, number := range c.numbers {
			s := &serverSession{ctx: t.Context(), source: table, inputErrors: c.inputErrors}
			err := s.classify(&mssql.Error{Number: number, Message: "m"})
			if f := fault.From(err); f.Kind != c.kind || !strings.Contains(f.Message, c.want) {
				t.Errorf("error %d, input errors %v: got a fault of kind %v, %q, want kind %v, %q",
					number, c.inputErrors, f.Kind, f.Message, c.kind, c.want)
			}
		}
	}
}

// TestUnreadableReply checks that an error names the view on which the driver fails.
func TestUnreadableReply(t *testing.T) {
	table := &Table{Kind: &record.Kind{Name: "SO_Totals"}, Name: mssql.Table{Schema: "dbo", Name: "v"}}
	s := &serverSession{ctx: t.Context(), source: table}
	err := s.classify(fmt.Errorf("%w: runtime error: slice bounds out of range [5:4]", mssql.ErrUnreadable))
	const want = "the database driver fails on a value of dbo.v; " +
		"an administrator can map SO_Totals in erp.sources to a view that leaves out or converts the column"
	if f := fault.From(err); f.Kind != fault.Unavailable || f.Message != want {
		t.Errorf("a reply that cannot be read: got a fault of kind %v, %q, want kind %v, %q",
			f.Kind, f.Message, fault.Unavailable, want)
	}
}

// TestMissingColumn checks that the error names the column in the registry's letter case and, if the
// table is the ERP's, the setting that solves the problem.
func TestMissingColumn(t *testing.T) {
	records, _ := record.Builtin().Lookup("SO_Totals")
	log, _ := record.System().Lookup("RequestLog")
	for _, c := range []struct {
		kind    *record.Kind
		message string
		want    string
	}{
		{
			records,
			"Invalid column name 'invoicetotal'.",
			"lacks the column InvoiceTotal of this record kind; " +
				"an administrator can map SO_Totals in erp.sources to a view that has it; run whd check for details",
		},
		{
			records,
			`column "invoicetotal" does not exist`,
			"lacks the column InvoiceTotal of",
		},
		{
			records,
			"Invalid column name 'x'.",
			"lacks a column of this record kind; an administrator can map SO_Totals",
		},
		{
			log,
			"Invalid column name 'Id'.",
			"lacks the column Id of this record kind; run whd check for details",
		},
	} {
		table := &Table{Kind: c.kind, Name: mssql.Table{Schema: "dbo", Name: "v"}}
		s := &serverSession{ctx: t.Context(), source: table}
		err := s.classify(&mssql.Error{Number: 207, Message: c.message})
		want := "the table or view dbo.v " + c.want
		if got := fault.From(err).Message; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want it to start with %q", c.message, got, want)
		}
	}
}

func TestWaitTimeout(t *testing.T) {
	if got := waitTimeout(2 * time.Second); got != 2*time.Second {
		t.Errorf("waiting with a time limit of 2s for statements takes at most %v, want 2s", got)
	}
	if got := waitTimeout(0); got <= 0 || got > time.Minute {
		t.Errorf("waiting without a time limit for statements takes at most %v, want a limit up to 1m", got)
	}
}

func TestRetry(t *testing.T) {
	victim := fmt.Errorf("wrapped: %w", &mssql.Error{Number: 1205, Message: "deadlock victim"})
	lost := fmt.Errorf("%w: reset", mssql.ErrLost)
	other := errors.New("another")
	cases := []struct {
		name      string
		retryable func(error) bool
		fails     []error
		runs      int
		want      error
	}{
		{"success", IsDeadlock, nil, 1, nil},
		{"deadlock", IsDeadlock, []error{victim, victim}, 3, nil},
		{"repeated deadlocks", IsDeadlock, []error{victim, victim, victim, victim, victim}, MaxAttempts, victim},
		{"a write on a broken connection is not retried", IsDeadlock, []error{lost}, 1, lost},
		{"a read is retried", IsReadRetryable, []error{lost, victim}, 3, nil},
		{"other error", IsReadRetryable, []error{other}, 1, other},
	}
	for _, c := range cases {
		runs := 0
		err := Retry(t.Context(), c.retryable, func(context.Context) error {
			runs++
			if runs <= len(c.fails) {
				return c.fails[runs-1]
			}
			return nil
		})
		if runs != c.runs || !errors.Is(err, c.want) {
			t.Errorf("%s: got %d runs and the error %v, want %d and %v", c.name, runs, err, c.runs, c.want)
		}
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Retry(ctx, IsDeadlock, func(context.Context) error {
		cancel()
		return &mssql.Error{Number: 1205, Message: "deadlock victim"}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("retrying after the context was cancelled: got the error %v, want %v", err, context.Canceled)
	}
}

// TestNoErrorIsFree checks the functions that each query calls at its end.
func TestNoErrorIsFree(t *testing.T) {
	s := new(fileSession)
	allocs := testing.AllocsPerRun(100, func() {
		_ = Classify(nil)
		_ = s.classify(nil)
	})
	if allocs != 0 {
		t.Errorf("classifying no error makes %v allocations, want none", allocs)
	}
}

// TestOpenErrorNamesRemedy checks the remedies for errors of SQLite that prevent a start.
func TestOpenErrorNamesRemedy(t *testing.T) {
	const (
		readOnly          = 8
		readOnlyDirectory = 8 | 6<<8
		ioError           = 10
		full              = 13
	)
	for code, wantRemedy := range map[int]string{
		full:              "free space",
		readOnly:          "allow the service's user to write",
		readOnlyDirectory: "allow the service's user to write",
		ioError:           "",
	} {
		message := fault.From(OpenError(&sqlite.Error{Code: code})).Message
		text, remedy, hasRemedy := strings.Cut(message, ";")
		if text != "the store cannot be opened" {
			t.Errorf("error %d: got %q, want that the store cannot be opened", code, message)
		}
		if hasRemedy != (wantRemedy != "") || !strings.Contains(remedy, wantRemedy) {
			t.Errorf("error %d: got the remedy %q, want %q", code, remedy, wantRemedy)
		}
	}
}
