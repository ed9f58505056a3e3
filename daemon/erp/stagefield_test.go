package erp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

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
			t.Errorf("%+v: %v, want %s", c.found, err, c.want)
		}
	}
}

// TestQuoteID: ids in messages are short and printable, whatever the request contains.
func TestQuoteID(t *testing.T) {
	for _, id := range []string{"", "plain", "日本", "a\r\nb\x00", "\xff\xfe", "\u2028\u202e", strings.Repeat("漢", 20_000)} {
		got := quoteID(id)
		if len([]rune(got)) > 70 || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%.20q is quoted as %q", id, got)
		}
	}
	if got := quoteID("日本"); got != `"日本"` {
		t.Errorf("got %s", got)
	}
}

func TestContentsError(t *testing.T) {
	cause := errors.New("cut")
	if f := contentsError(cause, "is too long"); f.Kind != fault.Invalid || f.Fields[0].Name != "Contents" || !errors.Is(f, cause) || f.Message != "Contents is too long" {
		t.Errorf("got %+v", f)
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
		if _, ok := fields.Column(column); !ok || needsColumn(FieldsTable, column) || !needsColumn(ValuesTable, column) {
			t.Errorf("%s of %s is not an unused column: %v", column, FieldsTable, ok)
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
