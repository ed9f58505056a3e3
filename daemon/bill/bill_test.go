package bill

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
	at := Place{"B", "S", "F"}
	id := text("x")
	for _, c := range []struct {
		found Found
		want  string
	}{
		{Found{}, `there is no bill "B" (BillID)`},
		{Found{Stage: id, Field: id}, `there is no bill "B" (BillID)`},
		{Found{Bill: id, Field: id}, `the bill "B" has no stage "S" (StageID)`},
		{Found{Bill: id, Stage: id}, `there is no custom field "F" of bill stages (SettingID)`},
		{Found{Bill: id, Stage: id, Field: id}, ""},
	} {
		err := at.Missing(c.found)
		if c.want == "" && err == nil {
			continue
		}
		if !fault.Is(err, fault.NotFound) || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.found, err, c.want)
		}
	}
}

// Ids in messages are short and stay on their line, whatever was asked for.
func TestShown(t *testing.T) {
	for _, id := range []string{"", "plain", "日本", "a\r\nb\x00", "\xff\xfe", "\u2028\u202e", strings.Repeat("漢", 20_000)} {
		got := shown(id)
		if len([]rune(got)) > 70 || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%.20q is shown as %q", id, got)
		}
	}
	if got := shown("日本"); got != `"日本"` {
		t.Errorf("got %s", got)
	}
}

func TestUnfit(t *testing.T) {
	cause := errors.New("cut")
	if f := Unfit(cause, "is too long"); f.Kind != fault.Invalid || f.Fields[0].Name != "Contents" || !errors.Is(f, cause) || f.Message != "Contents is too long" {
		t.Errorf("got %+v", f)
	}
}

func TestTables(t *testing.T) {
	tables := Tables()
	for _, name := range []string{Bills, Stages, Fields, Values, Plugins} {
		if _, ok := tables.Lookup(name); !ok {
			t.Errorf("no table %s", name)
		}
	}
	fields, _ := tables.Lookup(Fields)
	for _, column := range unused {
		if _, ok := fields.Column(column); !ok || Needs(Fields, column) || !Needs(Values, column) {
			t.Errorf("%s is a column of %s that is not needed: %v", column, Fields, ok)
		}
	}
	if !Needs(Fields, "SettingName") {
		t.Error("SettingName is not needed")
	}
}

func ExamplePlace_Missing() {
	bill := "0A1B2C"
	fmt.Println(Place{"0A1B2C", "LAST STAGE", "COLOUR"}.Missing(Found{Bill: &bill}))
	// Output: the bill "0A1B2C" has no stage "LAST STAGE" (StageID)
}
