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

// Bills runs the suite of custom field values of bill stages. Each call of home
// gives a place without any, and a function that opens it, as another daemon
// does, again at each call. What it opens is closed when the test ends.
func Bills(t *testing.T, home func(t *testing.T) func() *storage.Store) {
	for name, test := range map[string]struct {
		run    func(*testing.T, workshop)
		values [][]any
	}{
		"Reads":     {readBills, billValues},
		"Change":    {changeValue, billValues},
		"Add":       {addValue, billValues},
		"Missing":   {missingPlaces, billValues},
		"Spellings": {spelledIDs, billValues},
		"Texts":     {billTexts, billValues},
		"AtOnce":    {billsAtOnce, billValues},
		"Twice":     {valuesTwice, twice},
		"Form":      {formOfIDs, otherForm},
		"Cancelled": {billsCancelled, billValues},
		"Closed":    {billsClosed, billValues},
	} {
		t.Run(name, func(t *testing.T) {
			open := home(t)
			w := workshop{t: t, open: open, store: open()}
			w.Bills = w.store.Bills(time.UTC)
			w.fill(test.values)
			test.run(t, w)
		})
	}
}

// workshop is the store of a test, with bills.
type workshop struct {
	*erp.Bills
	t     *testing.T
	open  func() *storage.Store
	store *storage.Store
}

func (w workshop) fill(values [][]any) {
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

func place(ids ...string) erp.StageField {
	return erp.StageField{BillID: ids[0], StageID: ids[1], SettingID: ids[2]}
}

var red = place("BILL-1", "Stage a", "FIELD-1")

// told is a value in one line; - is what is not there. Ids may be padded.
func told(v wire.CustomFieldValue) string {
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

// set changes a value and says what the answer was.
func (w workshop) set(at erp.StageField, contents string) string {
	w.t.Helper()
	v, err := w.Set(w.t.Context(), at, &contents)
	if err != nil {
		w.t.Fatal(err)
	}
	return told(v)
}

func (w workshop) expect(at erp.StageField, want string) {
	w.t.Helper()
	v, err := w.Value(w.t.Context(), at)
	if got := told(v); err != nil || got != want {
		w.t.Errorf("%v is %s (%v), want %s", at, got, err, want)
	}
}

func (w workshop) expectAll(billID, stageID string, want ...string) {
	w.t.Helper()
	all, err := w.Values(w.t.Context(), billID, stageID)
	var got []string
	for _, v := range all {
		got = append(got, told(v))
	}
	if err != nil || !slices.Equal(got, want) {
		w.t.Errorf("%s %s is\n%s (%v), want\n%s", billID, stageID, strings.Join(got, "\n"), err, strings.Join(want, "\n"))
	}
}

// rows are the stored values in one line each: id, stage, field, contents, time.
func (w workshop) rows() []string {
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

func readBills(t *testing.T, w workshop) {
	w.expect(red, "FIELD-1|Colour|red|plugin-1|Quality")
	w.expect(place("BILL-1", "Stage a", "FIELD-2"), "FIELD-2|Weight|-|PLUGIN-2|Größe")
	w.expect(place("BILL-1", "Stage a", "FIELD-3"), "FIELD-3|-|-|-|-")
	w.expectAll("BILL-1", "Stage a", "FIELD-2|Weight|-|PLUGIN-2|Größe", "FIELD-1|Colour|red|plugin-1|Quality", "FIELD-3|-|-|-|-")
	w.expectAll("BILL-2", "Stage c", "FIELD-2|Weight|-|PLUGIN-2|Größe", "FIELD-1|Colour|-|plugin-1|Quality", "FIELD-3|-|-|-|-")
}

// untouched are the rows that no test here changes.
const untouched = "0E984725-C51C-4BF4-9960-E1C80E27ABA0|Stage a|FIELD-3|-|" + billTime

func changeValue(t *testing.T, w workshop) {
	if got, want := w.set(red, "blue"), "FIELD-1|Colour|blue|plugin-1|Quality"; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
	w.expect(red, "FIELD-1|Colour|blue|plugin-1|Quality")
	rows := w.rows()
	const kept = "6F9619FF-8B86-4011-B42D-00C04FC964FF|STAGE A|FIELD-1|blue|"
	if len(rows) != 2 || rows[0] != untouched || !strings.HasPrefix(rows[1], kept) || strings.HasSuffix(rows[1], billTime) {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
	if got, want := w.set(red, ""), "FIELD-1|Colour||plugin-1|Quality"; got != want {
		t.Errorf("cleared: the answer is %s, want %s", got, want)
	}
	w.expect(red, "FIELD-1|Colour||plugin-1|Quality")
}

var newRow = regexp.MustCompile(`^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}\|Stage c\|FIELD-2\|12 kg\|`)

func addValue(t *testing.T, w workshop) {
	at := place("BILL-2", "STAGE C", "field-2")
	if got, want := w.set(at, "12 kg"), "FIELD-2|Weight|12 kg|PLUGIN-2|Größe"; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
	w.expect(at, "FIELD-2|Weight|12 kg|PLUGIN-2|Größe")
	rows := w.rows()
	if added := slices.IndexFunc(rows, newRow.MatchString); len(rows) != 3 || added < 0 || strings.HasSuffix(rows[added], "|-") {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
	if w.set(at, "13 kg"); len(w.rows()) != 3 {
		t.Errorf("rows are\n%s", strings.Join(w.rows(), "\n"))
	}
	if w.set(place("BILL-1", "Stage a", "FIELD-3"), "was null"); len(w.rows()) != 3 {
		t.Errorf("rows are\n%s", strings.Join(w.rows(), "\n"))
	}
}

// missingPlaces asks for places of which something is missing, also by
// ids that no database has to be asked for.
func missingPlaces(t *testing.T, w workshop) {
	before := w.rows()
	ids := []string{"nope", "", "  ", "%", "BILL_1", "'; DROP TABLE BM_Main; --", "a\x00b", "日本", "\xff", strings.Repeat("x", 10<<10), strings.Repeat("漢", 5<<10)}
	for _, id := range ids {
		for _, c := range []struct {
			at   erp.StageField
			says string
		}{
			{place(id, "Stage a", "FIELD-1"), "there is no bill"},
			{place("BILL-1", id, "FIELD-1"), "has no stage"},
			{place("BILL-1", "Stage a", id), "there is no custom field"},
			{place(id, id, id), "there is no bill"},
		} {
			contents := "lost"
			_, valueErr := w.Value(t.Context(), c.at)
			_, setErr := w.Set(t.Context(), c.at, &contents)
			errs := []error{valueErr, setErr}
			if !strings.Contains(c.says, "field") {
				_, err := w.Values(t.Context(), c.at.BillID, c.at.StageID)
				errs = append(errs, err)
			}
			for _, err := range errs {
				if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 700 {
					t.Errorf("%.60q: %v, want %s", c.at, err, c.says)
				}
			}
		}
	}
	for _, at := range []erp.StageField{place("BILL-2", "Stage a", "FIELD-1"), place("BILL-1", "Stage c", "FIELD-1")} {
		if _, err := w.Value(t.Context(), at); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "has no stage") {
			t.Errorf("the stage of another bill: %v", err)
		}
	}
	if _, err := w.Set(t.Context(), red, nil); !fault.Is(err, fault.Missing) || fault.From(err).Fields[0].Name != "Contents" {
		t.Errorf("no contents: %v", err)
	}
	if after := w.rows(); !slices.Equal(after, before) {
		t.Errorf("rows are\n%s", strings.Join(after, "\n"))
	}
}

func spelledIDs(t *testing.T, w workshop) {
	for i, at := range []erp.StageField{
		place("bill-1", "STAGE A", "field-1"), place("BILL-1   ", "stage a ", "Field-1  "), red,
	} {
		contents := strings.Repeat("x", i+1)
		if got, want := w.set(at, contents), "FIELD-1|Colour|"+contents+"|plugin-1|Quality"; got != want {
			t.Errorf("%v: the answer is %s, want %s", at, got, want)
		}
		w.expect(at, "FIELD-1|Colour|"+contents+"|plugin-1|Quality")
		w.expectAll(at.BillID, at.StageID, "FIELD-2|Weight|-|PLUGIN-2|Größe", "FIELD-1|Colour|"+contents+"|plugin-1|Quality", "FIELD-3|-|-|-|-")
	}
	if rows := w.rows(); len(rows) != 2 {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
}

// billTexts come back as they were given, by a change and by an addition.
func billTexts(t *testing.T, w workshop) {
	added := place("BILL-2", "Stage c", "FIELD-1")
	for _, text := range []string{
		"", " ", "  both sides  ", "Größe", "日本 ｶﾅ", "👩‍🔧🧵", "O'Brien \"x\"", "a\r\nb\tc", `{"a":[1]}`, "@p1", "%_[", strings.Repeat("long ", 20_000),
		strings.Repeat("漢", 4001), "NULL", "-- x", "\ufeffmark", "e\u0301",
	} {
		for _, at := range []erp.StageField{red, added} {
			v, err := w.Set(t.Context(), at, &text)
			if err != nil || *v.Contents != text {
				t.Errorf("%.40q: %v", text, err)
				continue
			}
			if v, err = w.Value(t.Context(), at); err != nil || *v.Contents != text {
				t.Errorf("%.40q came back as %.40q (%v)", text, *v.Contents, err)
			}
		}
	}
}

// billsAtOnce lets two daemons write one value that is not there yet, by
// different spellings. All succeed, one row is left, which holds what one of
// them wrote, and who comes last wins.
func billsAtOnce(t *testing.T, w workshop) {
	const writers = 32
	daemons := []*erp.Bills{w.Bills, w.open().Bills(time.UTC)}
	for round, spelled := range [][]erp.StageField{
		{place("BILL-1", "Stage a", "FIELD-2"), place("bill-1 ", "STAGE A", "field-2 ")},
		{place("BILL-1", "Stage b", "FIELD-2"), place("BILL-1", "stage b  ", "Field-2")},
		{place("BILL-2", "Stage c", "FIELD-1"), place("bill-2", "STAGE C", "field-1")},
	} {
		atOnce(writers, func(i int) {
			contents := "by " + strconv.Itoa(i)
			if v, err := daemons[i%2].Set(t.Context(), spelled[i/2%2], &contents); err != nil || *v.Contents != contents {
				t.Errorf("writer %d: %v", i, err)
			}
		})
		if rows := w.rows(); len(rows) != 3+round {
			t.Fatalf("rows are\n%s", strings.Join(rows, "\n"))
		}
		v, err := w.Value(t.Context(), spelled[0])
		if n, numbered := strings.CutPrefix(*v.Contents, "by "); err != nil || !numbered || n > "9" {
			t.Errorf("nobody wrote %s (%v)", told(v), err)
		}
		w.set(spelled[1], "last")
		if v, err = w.Value(t.Context(), spelled[0]); err != nil || *v.Contents != "last" {
			t.Errorf("in the end it is %s (%v)", told(v), err)
		}
	}
}

// valuesTwice: the newest counts, and a change is one of all of them.
func valuesTwice(t *testing.T, w workshop) {
	w.expect(red, "FIELD-1|Colour|newest|plugin-1|Quality")
	w.expectAll("BILL-1", "Stage a", "FIELD-2|Weight|-|PLUGIN-2|Größe", "FIELD-1|Colour|newest|plugin-1|Quality", "FIELD-3|-|-|-|-")
	w.set(red, "all")
	rows := w.rows()
	for _, row := range rows {
		if !strings.Contains(row, "|all|") {
			t.Errorf("left alone: %s", row)
		}
	}
	if len(rows) != len(twice) {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
}

func formOfIDs(t *testing.T, w workshop) {
	w.set(place("BILL-1", "Stage b", "FIELD-1"), "added")
	form := regexp.MustCompile(`^\{[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\}\|Stage b\|`)
	if rows := w.rows(); len(rows) != 3 || !slices.ContainsFunc(rows, form.MatchString) {
		t.Errorf("rows are\n%s", strings.Join(rows, "\n"))
	}
}

func billsCancelled(t *testing.T, w workshop) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range w.everyCall(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want cancelled", name, err)
		}
	}
	w.expect(red, "FIELD-1|Colour|red|plugin-1|Quality")
}

func billsClosed(t *testing.T, w workshop) {
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range w.everyCall(t.Context()) {
		if err == nil || fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func (w workshop) everyCall(ctx context.Context) map[string]error {
	all := make(map[string]error)
	_, all["Value"] = w.Value(ctx, red)
	_, all["Values"] = w.Values(ctx, red.BillID, red.StageID)
	_, all["Set"] = w.Set(ctx, red, new("x"))
	return all
}

// atOnce does the work of n at the same time.
func atOnce(n int, work func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { work(i) })
	}
	all.Wait()
}
