package erptest

import (
	"context"
	"errors"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
)

// Bills runs the suite for the custom fields of bills. openStore prepares a store without
// bills and returns a function that opens it, which each call does again, like another
// daemon. The stores are closed when the test ends.
func Bills(t *testing.T, openStore func(t *testing.T) func() *storage.Store) {
	for name, test := range map[string]struct {
		run    func(*testing.T, billSuite)
		values [][]any
	}{
		"Reads":      {readBills, billValues},
		"Change":     {changeValue, billValues},
		"Add":        {addValue, billValues},
		"Missing":    {missingIDs, billValues},
		"Spellings":  {spelledIDs, billValues},
		"Texts":      {billTexts, billValues},
		"Concurrent": {concurrentWrites, billValues},
		"Duplicates": {duplicateValues, duplicateRows},
		"IDNotation": {idNotation, otherNotation},
		"Cancelled":  {billsCancelled, billValues},
		"Closed":     {billsClosed, billValues},
	} {
		t.Run(name, func(t *testing.T) {
			open := openStore(t)
			w := billSuite{t: t, open: open, store: open()}
			w.Bills = w.store.Bills(time.UTC)
			w.seed(test.values)
			test.run(t, w)
		})
	}
}

// billSuite is the store and bills of a test.
type billSuite struct {
	*erp.Bills
	t     *testing.T
	open  func() *storage.Store
	store *storage.Store
}

func (w billSuite) seed(values [][]any) {
	w.t.Helper()
	rows := maps.Clone(billRows)
	rows[erp.ValuesTable] = values
	_, err := w.store.Seed(w.t.Context(), erp.BillTables().Kinds(), func(k *record.Kind) iter.Seq[[]any] {
		return func(yield func([]any) bool) {
			for _, values := range rows[k.Name] {
				if !yield(slices.Clone(values)) {
					return
				}
			}
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func stageField(ids ...string) erp.StageField {
	return erp.StageField{BillID: ids[0], StageID: ids[1], SettingID: ids[2]}
}

var redField = stageField("BILL-1", "Stage a", "FIELD-1")

// valueText formats a value in one line, with - for null. Ids may be padded.
func valueText(v wire.CustomFieldValue) string {
	var parts []string
	for _, p := range []*string{&v.SettingID, v.SettingName, v.Contents, v.PluginID, v.PluginName} {
		text := "-"
		if p != nil {
			text = *p
		}
		parts = append(parts, strings.TrimRight(text, " "))
	}
	return strings.Join(parts, "|")
}

// set changes a value and returns the result.
func (w billSuite) set(at erp.StageField, contents string) string {
	w.t.Helper()
	v, err := w.Set(w.t.Context(), at, &contents)
	if err != nil {
		w.t.Fatal(err)
	}
	return valueText(v)
}

func (w billSuite) expect(at erp.StageField, want string) {
	w.t.Helper()
	v, err := w.Value(w.t.Context(), at)
	if got := valueText(v); err != nil || got != want {
		w.t.Errorf("%v: %s (%v), want %s", at, got, err, want)
	}
}

func (w billSuite) expectAll(billID, stageID string, want ...string) {
	w.t.Helper()
	all, err := w.Values(w.t.Context(), billID, stageID)
	var got []string
	for _, v := range all {
		got = append(got, valueText(v))
	}
	if err != nil || !slices.Equal(got, want) {
		w.t.Errorf("%s %s: \n%s (%v), want\n%s",
			billID, stageID, strings.Join(got, "\n"), err, strings.Join(want, "\n"))
	}
}

// rows returns the stored values, one line each: id, stage, field, contents, time.
func (w billSuite) rows() []string {
	w.t.Helper()
	kind, _ := erp.BillTables().Lookup(erp.ValuesTable)
	req, err := query.Parse(kind, query.Members{member("OrderBy", "RecID")}, query.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := query.NewPlan(req, false)
	if err != nil {
		w.t.Fatal(err)
	}
	result, err := w.store.Select(w.t.Context(), plan)
	if err != nil {
		w.t.Fatal(err)
	}
	defer result.Close()
	for rows := []string(nil); ; {
		cells, err := result.Next()
		if err != nil {
			w.t.Fatal(err)
		}
		if cells == nil {
			return rows
		}
		var texts []string
		for i, c := range cells {
			text := "-"
			if !c.Null {
				text = strings.TrimRight(c.Text(kind.Fields[i].Type), " ")
			}
			texts = append(texts, text)
		}
		rows = append(rows, strings.Join(texts, "|"))
	}
}

func readBills(t *testing.T, w billSuite) {
	w.expect(redField, "FIELD-1|Colour|red|plugin-1|Quality")
	w.expect(stageField("BILL-1", "Stage a", "FIELD-2"), "FIELD-2|Weight|-|PLUGIN-2|Größe")
	w.expect(stageField("BILL-1", "Stage a", "FIELD-3"), "FIELD-3|-|-|-|-")
	w.expectAll("BILL-1", "Stage a", "FIELD-2|Weight|-|PLUGIN-2|Größe",
		"FIELD-1|Colour|red|plugin-1|Quality", "FIELD-3|-|-|-|-")
	w.expectAll("BILL-2", "Stage c", "FIELD-2|Weight|-|PLUGIN-2|Größe",
		"FIELD-1|Colour|-|plugin-1|Quality", "FIELD-3|-|-|-|-")
}

// untouched is the row that no test changes.
const untouched = "0E984725-C51C-4BF4-9960-E1C80E27ABA0|Stage a|FIELD-3|-|" + billTime

func changeValue(t *testing.T, w billSuite) {
	if got, want := w.set(redField, "blue"), "FIELD-1|Colour|blue|plugin-1|Quality"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	w.expect(redField, "FIELD-1|Colour|blue|plugin-1|Quality")
	rows := w.rows()
	const updated = "6F9619FF-8B86-4011-B42D-00C04FC964FF|STAGE A|FIELD-1|blue|"
	isUpdated := len(rows) == 2 && strings.HasPrefix(rows[1], updated) && !strings.HasSuffix(rows[1], billTime)
	if !isUpdated || rows[0] != untouched {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
	if got, want := w.set(redField, ""), "FIELD-1|Colour||plugin-1|Quality"; got != want {
		t.Errorf("cleared: got %s, want %s", got, want)
	}
	w.expect(redField, "FIELD-1|Colour||plugin-1|Quality")
}

var newRow = regexp.MustCompile(`^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}\|Stage c\|FIELD-2\|12 kg\|`)

func addValue(t *testing.T, w billSuite) {
	at := stageField("BILL-2", "STAGE C", "field-2")
	if got, want := w.set(at, "12 kg"), "FIELD-2|Weight|12 kg|PLUGIN-2|Größe"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	w.expect(at, "FIELD-2|Weight|12 kg|PLUGIN-2|Größe")
	rows := w.rows()
	if added := slices.IndexFunc(rows, newRow.MatchString); len(rows) != 3 || added < 0 || strings.HasSuffix(rows[added], "|-") {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
	w.set(at, "13 kg")
	if len(w.rows()) != 3 {
		t.Errorf("rows are\n%s", strings.Join(w.rows(), "\n"))
	}
	w.set(stageField("BILL-1", "Stage a", "FIELD-3"), "was null")
	if len(w.rows()) != 3 {
		t.Errorf("rows are\n%s", strings.Join(w.rows(), "\n"))
	}
}

// missingIDs uses ids that do not exist, including some that are rejected without a
// query.
func missingIDs(t *testing.T, w billSuite) {
	before := w.rows()
	ids := []string{
		"nope", "", "  ", "%", "BILL_1", "'; DROP TABLE BM_Main; --", "a\x00b", "日本",
		"\xff", strings.Repeat("x", 10<<10), strings.Repeat("漢", 5<<10),
	}
	for _, id := range ids {
		for _, c := range []struct {
			at   erp.StageField
			want string
		}{
			{stageField(id, "Stage a", "FIELD-1"), "there is no bill"},
			{stageField("BILL-1", id, "FIELD-1"), "has no stage"},
			{stageField("BILL-1", "Stage a", id), "there is no custom field"},
			{stageField(id, id, id), "there is no bill"},
		} {
			contents := "lost"
			_, valueErr := w.Value(t.Context(), c.at)
			_, setErr := w.Set(t.Context(), c.at, &contents)
			errs := []error{valueErr, setErr}
			if !strings.Contains(c.want, "field") {
				_, err := w.Values(t.Context(), c.at.BillID, c.at.StageID)
				errs = append(errs, err)
			}
			for _, err := range errs {
				if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 700 {
					t.Errorf("%.60q: %v, want %s", c.at, err, c.want)
				}
			}
		}
	}
	for _, at := range []erp.StageField{stageField("BILL-2", "Stage a", "FIELD-1"), stageField("BILL-1", "Stage c", "FIELD-1")} {
		if _, err := w.Value(t.Context(), at); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "has no stage") {
			t.Errorf("the stage of another bill: %v", err)
		}
	}
	if _, err := w.Set(t.Context(), redField, nil); !fault.Is(err, fault.Missing) || fault.From(err).Fields[0].Name != "Contents" {
		t.Errorf("no contents: %v", err)
	}
	if after := w.rows(); !slices.Equal(after, before) {
		t.Errorf("rows are\n%s", strings.Join(after, "\n"))
	}
}

func spelledIDs(t *testing.T, w billSuite) {
	for i, at := range []erp.StageField{
		stageField("bill-1", "STAGE A", "field-1"), stageField("BILL-1   ", "stage a ", "Field-1  "), redField,
	} {
		contents := strings.Repeat("x", i+1)
		if got, want := w.set(at, contents), "FIELD-1|Colour|"+contents+"|plugin-1|Quality"; got != want {
			t.Errorf("%v: got %s, want %s", at, got, want)
		}
		w.expect(at, "FIELD-1|Colour|"+contents+"|plugin-1|Quality")
		w.expectAll(at.BillID, at.StageID, "FIELD-2|Weight|-|PLUGIN-2|Größe",
			"FIELD-1|Colour|"+contents+"|plugin-1|Quality", "FIELD-3|-|-|-|-")
	}
	if rows := w.rows(); len(rows) != 2 {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
}

// billTexts checks that texts are read back as written, after updates and inserts.
func billTexts(t *testing.T, w billSuite) {
	added := stageField("BILL-2", "Stage c", "FIELD-1")
	for _, text := range []string{
		"", " ", "  both sides  ", "Größe", "日本 ｶﾅ", "👩‍🔧🧵", "O'Brien \"x\"", "a\r\nb\tc", `{"a":[1]}`, "@p1", "%_[", strings.Repeat("long ", 20_000),
		strings.Repeat("漢", 4001), "NULL", "-- x", "\ufeffmark", "e\u0301",
	} {
		for _, at := range []erp.StageField{redField, added} {
			v, err := w.Set(t.Context(), at, &text)
			if err != nil || *v.Contents != text {
				t.Errorf("%.40q: %v", text, err)
				continue
			}
			if v, err = w.Value(t.Context(), at); err != nil || *v.Contents != text {
				t.Errorf("%.40q was read back as %.40q (%v)", text, *v.Contents, err)
			}
		}
	}
}

// concurrentWrites lets two daemons write one missing value concurrently, with different
// spellings of the ids. All writes succeed and leave one row with the contents of one
// of them; a later write wins.
func concurrentWrites(t *testing.T, w billSuite) {
	const writers = 32
	daemons := []*erp.Bills{w.Bills, w.open().Bills(time.UTC)}
	for round, spelled := range [][]erp.StageField{
		{stageField("BILL-1", "Stage a", "FIELD-2"), stageField("bill-1 ", "STAGE A", "field-2 ")},
		{stageField("BILL-1", "Stage b", "FIELD-2"), stageField("BILL-1", "stage b  ", "Field-2")},
		{stageField("BILL-2", "Stage c", "FIELD-1"), stageField("bill-2", "STAGE C", "field-1")},
	} {
		concurrently(writers, func(i int) {
			contents := "by " + strconv.Itoa(i)
			if v, err := daemons[i%2].Set(t.Context(), spelled[i/2%2], &contents); err != nil || *v.Contents != contents {
				t.Errorf("writer %d: %v", i, err)
			}
		})
		if rows := w.rows(); len(rows) != 3+round {
			t.Fatalf("rows are\n%s", strings.Join(rows, "\n"))
		}
		v, err := w.Value(t.Context(), spelled[0])
		if n, ok := strings.CutPrefix(*v.Contents, "by "); err != nil || !ok || n > "9" {
			t.Errorf("no writer wrote %s (%v)", valueText(v), err)
		}
		w.set(spelled[1], "last")
		if v, err = w.Value(t.Context(), spelled[0]); err != nil || *v.Contents != "last" {
			t.Errorf("after the last write: %s (%v)", valueText(v), err)
		}
	}
}

// duplicateValues: the newest row is read, and a change updates all of them.
func duplicateValues(t *testing.T, w billSuite) {
	w.expect(redField, "FIELD-1|Colour|newest|plugin-1|Quality")
	w.expectAll("BILL-1", "Stage a", "FIELD-2|Weight|-|PLUGIN-2|Größe",
		"FIELD-1|Colour|newest|plugin-1|Quality", "FIELD-3|-|-|-|-")
	w.set(redField, "all")
	rows := w.rows()
	for _, row := range rows {
		if !strings.Contains(row, "|all|") {
			t.Errorf("not updated: %s", row)
		}
	}
	if len(rows) != len(duplicateRows) {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
}

func idNotation(t *testing.T, w billSuite) {
	w.set(stageField("BILL-1", "Stage b", "FIELD-1"), "added")
	form := regexp.MustCompile(`^\{[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\}\|Stage b\|`)
	if rows := w.rows(); len(rows) != 3 || !slices.ContainsFunc(rows, form.MatchString) {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
}

func billsCancelled(t *testing.T, w billSuite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range w.everyCall(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want cancelled", name, err)
		}
	}
	w.expect(redField, "FIELD-1|Colour|red|plugin-1|Quality")
}

func billsClosed(t *testing.T, w billSuite) {
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range w.everyCall(t.Context()) {
		if err == nil || fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func (w billSuite) everyCall(ctx context.Context) map[string]error {
	all := make(map[string]error)
	_, all["Value"] = w.Value(ctx, redField)
	_, all["Values"] = w.Values(ctx, redField.BillID, redField.StageID)
	_, all["Set"] = w.Set(ctx, redField, new("x"))
	return all
}

// concurrently calls work n times concurrently.
func concurrently(n int, work func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { work(i) })
	}
	all.Wait()
}
