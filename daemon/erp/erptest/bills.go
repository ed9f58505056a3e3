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

// seed adds billRows, and the rows of values.
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
func (w billSuite) set(field erp.StageField, contents string) string {
	w.t.Helper()
	v, err := w.Set(w.t.Context(), field, &contents)
	if err != nil {
		w.t.Fatalf("setting %v to %q: %v", field, contents, err)
	}
	return valueText(v)
}

// expectSet changes a value and compares the result.
func (w billSuite) expectSet(field erp.StageField, contents, want string) {
	w.t.Helper()
	if got := w.set(field, contents); got != want {
		w.t.Errorf("setting %v to %q returned %s, want %s", field, contents, got, want)
	}
}

// expect reads a value and compares it.
func (w billSuite) expect(field erp.StageField, want string) {
	w.t.Helper()
	v, err := w.Value(w.t.Context(), field)
	if got := valueText(v); err != nil || got != want {
		w.t.Errorf("%v: got %s (%v), want %s", field, got, err, want)
	}
}

// expectAll reads the values of a stage and compares them.
func (w billSuite) expectAll(billID, stageID string, want ...string) {
	w.t.Helper()
	values, err := w.Values(w.t.Context(), billID, stageID)
	var got []string
	for _, v := range values {
		got = append(got, valueText(v))
	}
	if err != nil || !slices.Equal(got, want) {
		w.t.Errorf("bill %s, stage %s: got\n%s (%v), want\n%s",
			billID, stageID, strings.Join(got, "\n"), err, strings.Join(want, "\n"))
	}
}

// expectRowCount checks the number of stored values.
func (w billSuite) expectRowCount(want int) {
	w.t.Helper()
	if rows := w.rows(); len(rows) != want {
		w.t.Errorf("got rows\n%s\nwant %d", strings.Join(rows, "\n"), want)
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
	var rows []string
	for {
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
	w.expectSet(redField, "blue", "FIELD-1|Colour|blue|plugin-1|Quality")
	w.expect(redField, "FIELD-1|Colour|blue|plugin-1|Quality")
	rows := w.rows()
	const updated = "6F9619FF-8B86-4011-B42D-00C04FC964FF|STAGE A|FIELD-1|blue|"
	isUpdated := len(rows) == 2 && strings.HasPrefix(rows[1], updated) && !strings.HasSuffix(rows[1], billTime)
	if !isUpdated || rows[0] != untouched {
		t.Errorf("got rows\n%s\nwant\n%s\nand %s with another time", strings.Join(rows, "\n"), untouched, updated)
	}

	w.expectSet(redField, "", "FIELD-1|Colour||plugin-1|Quality")
	w.expect(redField, "FIELD-1|Colour||plugin-1|Quality")
}

// newRow matches an added row: it has a random GUID, and the time is not null.
var newRow = regexp.MustCompile(`^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}` +
	`\|Stage c\|FIELD-2\|12 kg\|[^-]`)

func addValue(t *testing.T, w billSuite) {
	field := stageField("BILL-2", "STAGE C", "field-2")
	w.expectSet(field, "12 kg", "FIELD-2|Weight|12 kg|PLUGIN-2|Größe")
	w.expect(field, "FIELD-2|Weight|12 kg|PLUGIN-2|Größe")
	w.expectRowCount(3)
	if rows := w.rows(); !slices.ContainsFunc(rows, newRow.MatchString) {
		t.Errorf("got rows\n%s\nwant one that matches %s", strings.Join(rows, "\n"), newRow)
	}
	w.set(field, "13 kg")
	w.expectRowCount(3)
	w.set(stageField("BILL-1", "Stage a", "FIELD-3"), "was null")
	w.expectRowCount(3)
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
			field erp.StageField
			want  string
		}{
			{stageField(id, "Stage a", "FIELD-1"), "there is no bill"},
			{stageField("BILL-1", id, "FIELD-1"), "has no stage"},
			{stageField("BILL-1", "Stage a", id), "there is no custom field"},
			{stageField(id, id, id), "there is no bill"},
		} {
			_, err := w.Value(t.Context(), c.field)
			expectNotFound(t, "reading", c.field, err, c.want)
			_, err = w.Set(t.Context(), c.field, new("lost"))
			expectNotFound(t, "setting", c.field, err, c.want)
			if !strings.Contains(c.want, "field") {
				_, err := w.Values(t.Context(), c.field.BillID, c.field.StageID)
				expectNotFound(t, "reading all fields of", c.field, err, c.want)
			}
		}
	}
	for _, field := range []erp.StageField{ // with the stage of another bill
		stageField("BILL-2", "Stage a", "FIELD-1"),
		stageField("BILL-1", "Stage c", "FIELD-1"),
	} {
		_, err := w.Value(t.Context(), field)
		expectNotFound(t, "reading", field, err, "has no stage")
	}
	_, err := w.Set(t.Context(), redField, nil)
	if !fault.Is(err, fault.Missing) || fault.From(err).Fields[0].Name != "Contents" {
		t.Errorf("setting without contents: got error %v, want that they are missing", err)
	}
	if after := w.rows(); !slices.Equal(after, before) {
		t.Errorf("got rows\n%s\nwant\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}

// expectNotFound checks for an error that an id does not exist, with a short message.
func expectNotFound(t *testing.T, action string, field erp.StageField, err error, want string) {
	t.Helper()
	const maxLength = 700 // bytes
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s %.60q: got error %v, want that %s", action, field, err, want)
		return
	}
	if n := len(err.Error()); n > maxLength {
		t.Errorf("%s %.60q: the error has %d bytes, want at most %d", action, field, n, maxLength)
	}
}

func spelledIDs(t *testing.T, w billSuite) {
	for i, field := range []erp.StageField{
		stageField("bill-1", "STAGE A", "field-1"),
		stageField("BILL-1   ", "stage a ", "Field-1  "),
		redField,
	} {
		contents := strings.Repeat("x", i+1)
		want := "FIELD-1|Colour|" + contents + "|plugin-1|Quality"
		w.expectSet(field, contents, want)
		w.expect(field, want)
		w.expectAll(field.BillID, field.StageID, "FIELD-2|Weight|-|PLUGIN-2|Größe", want, "FIELD-3|-|-|-|-")
	}
	w.expectRowCount(2)
}

// billTexts checks that texts are read back as written, after updates and inserts.
func billTexts(t *testing.T, w billSuite) {
	added := stageField("BILL-2", "Stage c", "FIELD-1")
	for _, text := range []string{
		"", " ", "  both sides  ", "Größe", "日本 ｶﾅ", "👩‍🔧🧵", "O'Brien \"x\"", "a\r\nb\tc", `{"a":[1]}`, "@p1", "%_[",
		strings.Repeat("long ", 20_000), strings.Repeat("漢", 4001), "NULL", "-- x", "\ufeffmark", "e\u0301",
	} {
		for _, field := range []erp.StageField{redField, added} {
			v, err := w.Set(t.Context(), field, &text)
			if err != nil || *v.Contents != text {
				t.Errorf("setting %.40q: got %+.200v (%v)", text, v, err)
				continue
			}
			v, err = w.Value(t.Context(), field)
			if err != nil {
				t.Errorf("reading %.40q back: %v", text, err)
				continue
			}
			if *v.Contents != text {
				t.Errorf("%.40q was read back as %.40q", text, *v.Contents)
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
			v, err := daemons[i%2].Set(t.Context(), spelled[i/2%2], &contents)
			if err != nil || *v.Contents != contents {
				t.Errorf("writer %d: got %+v (%v), want %q", i, v, err, contents)
			}
		})
		if rows := w.rows(); len(rows) != 3+round {
			t.Fatalf("got rows\n%s\nwant %d", strings.Join(rows, "\n"), 3+round)
		}
		v, err := w.Value(t.Context(), spelled[0])
		if err != nil {
			t.Fatal(err)
		}
		number, isWritten := strings.CutPrefix(*v.Contents, "by ")
		if !isWritten || number > "9" {
			t.Errorf("got %s, which no writer wrote", valueText(v))
		}
		w.set(spelled[1], "last")
		v, err = w.Value(t.Context(), spelled[0])
		if err != nil || *v.Contents != "last" {
			t.Errorf("after the last write: got %s (%v), want last", valueText(v), err)
		}
	}
}

// duplicateValues: the newest row is read, and a change updates all of them.
func duplicateValues(t *testing.T, w billSuite) {
	w.expect(redField, "FIELD-1|Colour|newest|plugin-1|Quality")
	w.expectAll("BILL-1", "Stage a", "FIELD-2|Weight|-|PLUGIN-2|Größe",
		"FIELD-1|Colour|newest|plugin-1|Quality", "FIELD-3|-|-|-|-")
	w.set(redField, "all")
	for _, row := range w.rows() {
		if !strings.Contains(row, "|all|") {
			t.Errorf("not updated: %s", row)
		}
	}
	w.expectRowCount(len(duplicateRows))
}

// idNotation checks that the id of an added row has the notation of the first GUID among the rows.
func idNotation(t *testing.T, w billSuite) {
	w.set(stageField("BILL-1", "Stage b", "FIELD-1"), "added")
	w.expectRowCount(3)
	added := regexp.MustCompile(`^\{[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\}\|Stage b\|`)
	if rows := w.rows(); !slices.ContainsFunc(rows, added.MatchString) {
		t.Errorf("got rows\n%s\nwant one that matches %s", strings.Join(rows, "\n"), added)
	}
}

func billsCancelled(t *testing.T, w billSuite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range w.everyCall(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got error %v, want %v", name, err, context.Canceled)
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
			t.Errorf("%s of a closed store: got error %v, want one that is not about ids", name, err)
		}
	}
}

// everyCall calls all methods of bills, and returns their errors.
func (w billSuite) everyCall(ctx context.Context) map[string]error {
	_, valueErr := w.Value(ctx, redField)
	_, valuesErr := w.Values(ctx, redField.BillID, redField.StageID)
	_, setErr := w.Set(ctx, redField, new("x"))
	return map[string]error{"Value": valueErr, "Values": valuesErr, "Set": setErr}
}

// concurrently calls work n times concurrently.
func concurrently(n int, work func(int)) {
	var workers sync.WaitGroup
	for i := range n {
		workers.Go(func() { work(i) })
	}
	workers.Wait()
}
