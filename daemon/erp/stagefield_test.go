package erp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

func text(s string) *string { return &s }

func TestMissingNamesTheFirstPart(t *testing.T) {
	at := StageField{"B", "S", "F"}
	id := text("x")
	for _, c := range []struct {
		found foundValue
		want  string
	}{
		{foundValue{}, `there is no bill "B" (BillID)`},
		{foundValue{Stage: id, Field: id}, `there is no bill "B" (BillID)`},
		{foundValue{Bill: id, Field: id}, `the bill "B" has no stage "S" (StageID)`},
		{foundValue{Bill: id, Stage: id}, `there is no custom field "F" of bill stages (SettingID)`},
		{foundValue{Bill: id, Stage: id, Field: id}, ""},
	} {
		err := at.missing(c.found)
		if c.want == "" && err == nil {
			continue
		}
		if !fault.Is(err, fault.NotFound) || err.Error() != c.want {
			t.Errorf("%+v: got error %v, want %s", c.found, err, c.want)
		}
	}
}

// TestQuoteID: ids in messages are short and printable, whatever the request contains.
func TestQuoteID(t *testing.T) {
	const maxRunes = 70
	isNotPrintable := func(r rune) bool { return !unicode.IsPrint(r) }
	for _, id := range []string{
		"", "plain", "日本", "a\r\nb\x00", "\xff\xfe", "\u2028\u202e", strings.Repeat("漢", 20_000),
	} {
		got := quoteID(id)
		if utf8.RuneCountInString(got) > maxRunes || strings.ContainsFunc(got, isNotPrintable) {
			t.Errorf("%.20q is quoted as %q, want at most %d printable characters", id, got, maxRunes)
		}
	}
	if got, want := quoteID("日本"), `"日本"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestContentsError(t *testing.T) {
	cause := errors.New("cut")
	f := contentsError(cause, "is too long")
	if f.Kind != fault.Invalid || f.Fields[0].Name != "Contents" {
		t.Errorf("got %+v, want that the field Contents is invalid", f)
	}
	if want := "Contents is too long"; f.Message != want {
		t.Errorf("got message %q, want %q", f.Message, want)
	}
	if !errors.Is(f, cause) {
		t.Errorf("%v does not wrap %v", f, cause)
	}
}

func TestTables(t *testing.T) {
	tables := BillTables()
	for _, name := range []string{BillsTable, StagesTable, FieldsTable, ValuesTable, PluginsTable} {
		if _, ok := tables.Lookup(name); !ok {
			t.Errorf("no table %s", name)
		}
	}
	fields, _ := tables.Lookup(FieldsTable)
	for _, column := range unusedColumns {
		if _, ok := fields.Column(column); !ok {
			t.Errorf("%s has no column %s", FieldsTable, column)
		}
		if needsColumn(FieldsTable, column) {
			t.Errorf("%s of %s is needed, but unused", column, FieldsTable)
		}
		if !needsColumn(ValuesTable, column) {
			t.Errorf("%s of %s is not needed", column, ValuesTable)
		}
	}
	if !needsColumn(FieldsTable, "SettingName") {
		t.Error("SettingName is not a needed column")
	}
}

func ExampleStageField_missing() {
	bill := "0A1B2C"
	fmt.Println(StageField{"0A1B2C", "LAST STAGE", "COLOUR"}.missing(foundValue{Bill: &bill}))
	// Output: the bill "0A1B2C" has no stage "LAST STAGE" (StageID)
}
