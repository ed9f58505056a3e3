package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestServerFaults: error numbers of a server map to errors caused by the request, if it
// compares with the field (inputErrors), or to errors of the database.
func TestServerFaults(t *testing.T) {
	kind := &record.Kind{Name: "SO_Totals", Fields: []record.Field{{Name: "InvoiceTotal"}}}
	table := &Table{Kind: kind, Name: mssql.Table{Schema: "dbo", Name: "v"}}
	const tableNamed = "dbo.v"
	for _, c := range []struct {
		numbers     []int
		inputErrors bool
		kind        fault.Kind
		want        string
	}{
		{[]int{208}, true, fault.Unavailable, tableNamed},
		{[]int{207}, true, fault.Unavailable, tableNamed},
		{[]int{229, 230}, true, fault.Unavailable, "no permission to read " + tableNamed},
		{[]int{4413, 4502}, true, fault.Unavailable, tableNamed},
		{[]int{7303, 7314, 7391, 7399}, true, fault.Unavailable, tableNamed},
		{[]int{512, 537, 3623, 8134}, true, fault.Unavailable, tableNamed},
		{[]int{596, 9002, 40549, 40553, 40613}, true, fault.Unavailable, "cannot be used"},
		{[]int{1204, 1205, 1222, 3960, 8628}, true, fault.Unavailable, "busy"},
		{[]int{220, 232, 244, 248, 8115}, true, fault.Invalid, "out of range"},
		{[]int{235, 241, 242, 245, 293, 295, 8114, 8169}, true, fault.Invalid, "cannot be compared with its field"},
		{[]int{220, 232, 244, 248, 8115, 235, 241, 245, 293, 295}, false, fault.Unavailable, tableNamed},
		{[]int{257, 305, 306, 402, 421, 468}, true, fault.Invalid, "type of its column"},
		{[]int{305, 306, 421}, false, fault.Invalid, "type of its column"}, // ORDER BY and DISTINCT have no values
		{[]int{8623, 8632}, true, fault.Invalid, "too complex"},
		{[]int{50000}, true, fault.Internal, ""},
	} {
		for _, number := range c.numbers {
			s := &serverSession{ctx: t.Context(), source: table, inputErrors: c.inputErrors}
			err := s.classify(&mssql.Error{Number: number, Message: "m"})
			if f := fault.From(err); f.Kind != c.kind || !strings.Contains(f.Message, c.want) {
				t.Errorf("%d, input errors %v: %d %q, want %d %q", number, c.inputErrors, f.Kind, f.Message, c.kind, c.want)
			}
		}
	}
}

// TestUnreadableReply: an error names the view on which the driver fails.
func TestUnreadableReply(t *testing.T) {
	table := &Table{Kind: &record.Kind{Name: "SO_Totals"}, Name: mssql.Table{Schema: "dbo", Name: "v"}}
	s := &serverSession{ctx: t.Context(), source: table}
	err := s.classify(fmt.Errorf("%w: runtime error: slice bounds out of range [5:4]", mssql.ErrUnreadable))
	const want = "the database driver fails on a value of dbo.v; an administrator can map SO_Totals in erp.sources to a view that leaves out or converts the column"
	if f := fault.From(err); f.Kind != fault.Unavailable || f.Message != want {
		t.Errorf("classify: %d %q, want %q", f.Kind, f.Message, want)
	}
}

// TestMissingColumn: the error names the column in the registry's letter case and, if the
// table is the ERP's, the setting that solves the problem.
func TestMissingColumn(t *testing.T) {
	records, _ := record.Builtin().Lookup("SO_Totals")
	log, _ := record.System().Lookup("RequestLog")
	for _, c := range []struct {
		kind    *record.Kind
		message string
		want    string
	}{
		{records, "Invalid column name 'invoicetotal'.", "lacks the column InvoiceTotal of this record kind; an administrator can map SO_Totals in erp.sources to a view that has it; run whd check for details"},
		{records, `column "invoicetotal" does not exist`, "lacks the column InvoiceTotal of"},
		{records, "Invalid column name 'x'.", "lacks a column of this record kind; an administrator can map SO_Totals"},
		{log, "Invalid column name 'Id'.", "lacks the column Id of this record kind; run whd check for details"},
	} {
		s := &serverSession{ctx: t.Context(), source: &Table{Kind: c.kind, Name: mssql.Table{Schema: "dbo", Name: "v"}}}
		if got := fault.From(s.classify(&mssql.Error{Number: 207, Message: c.message})).Message; !strings.HasPrefix(got, "the table or view dbo.v "+c.want) {
			t.Errorf("%s: %s, want %s", c.message, got, c.want)
		}
	}
}

// TestSupportsJSON: a temporary error does not mean that OPENJSON is unsupported.
func TestSupportsJSON(t *testing.T) {
	if takes, err := supportsJSON(nil); !takes || err != nil {
		t.Errorf("no error: %v %v", takes, err)
	}
	for _, number := range []int{102, 208, 319} {
		if takes, err := supportsJSON(&mssql.Error{Number: number}); takes || err != nil {
			t.Errorf("%d: %v %v", number, takes, err)
		}
	}
	for _, failed := range []error{&mssql.Error{Number: 701}, &mssql.Error{Number: 1205}, &mssql.Error{Number: 1222}, mssql.ErrLost} {
		if _, err := supportsJSON(failed); !errors.Is(err, failed) {
			t.Errorf("%v: %v", failed, err)
		}
	}
}

func TestWaitTimeout(t *testing.T) {
	if got := waitTimeout(2 * time.Second); got != 2*time.Second {
		t.Errorf("with a limit: %v", got)
	}
	if got := waitTimeout(0); got <= 0 || got > time.Minute {
		t.Errorf("without a limit: %v", got)
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
			t.Errorf("%s: %d runs, %v; want %d, %v", c.name, runs, err, c.runs, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := Retry(ctx, IsDeadlock, func(context.Context) error { cancel(); return victim })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestListText(t *testing.T) {
	texts := func(all ...string) (values []wire.Value) {
		for _, text := range all {
			values = append(values, wire.Value{Text: text})
		}
		return values
	}
	for _, c := range []struct {
		of     record.Type
		values []wire.Value
		want   string
	}{
		{record.Text, texts("a", "b  ", "é", "日本語"), `["a","b","é","日本語"]`},
		{record.Int, []wire.Value{{Int: 1}, {Int: -2}}, `["1","-2"]`},
		{record.Decimal, texts("1.50"), `["1.50"]`},
	} {
		if got := string(listText(c.of, c.values)); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

// TestNoErrorIsFree checks the functions that each query calls at its end.
func TestNoErrorIsFree(t *testing.T) {
	s := new(fileSession)
	if allocs := testing.AllocsPerRun(100, func() { _, _ = Classify(nil), s.classify(nil) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestOpenErrorNamesRemedy: a full disk, or a file that cannot be written, prevents a start.
func TestOpenErrorNamesRemedy(t *testing.T) {
	for code, want := range map[int]string{13: "free space", 8: "allow the service's user to write", 8 | 6<<8: "allow the service's user to write", 10: ""} {
		message := fault.From(OpenError(&sqlite.Error{Code: code})).Message
		if !strings.HasPrefix(message, "the store cannot be opened") || !strings.Contains(message, want) || want == "" && strings.Contains(message, ";") {
			t.Errorf("%d: %s", code, message)
		}
	}
}
