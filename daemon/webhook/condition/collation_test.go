package condition_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bizhook/whd/daemon/webhook/condition"
)

// TestCollations compares texts as the column of a field does.
func TestCollations(t *testing.T) {
	kind := debtor(t)
	const (
		usual   = "SQL_Latin1_General_CP1_CI_AS"
		cased   = "Latin1_General_CS_AS"
		encoded = "latin1_general_bin2"
	)
	for _, test := range []struct {
		collation, value, condition string
		met                         bool
	}{
		{"", "Ann", `{"Name":"ann "}`, true},
		{usual, "Ann", `{"Name":"ann "}`, true},
		{usual, "É", `{"Name":"é"}`, true},
		{cased, "Ann", `{"Name":"ann"}`, false},
		{cased, "Ann", `{"Name":"Ann "}`, true},
		{cased, "Ann", `{"NameStartsWith":"an"}`, false},
		{cased, "Ann", `{"NameStartsWith":"An"}`, true},
		{cased, "A.n", `{"NameContains":".N"}`, false},
		{encoded, "Ann", `{"NameIn":["ann","ANN"]}`, false},
		{encoded, "Ann", `{"NameLike":"[A-Z]%"}`, true},
		{encoded, "ann", `{"NameLike":"[A-Z]%"}`, false},
		{"BINARY", "Ann", `{"Name":"ann"}`, false},
		{"BINARY", "Ann", `{"Name":"Ann "}`, false},
		{"BINARY", "Ann", `{"NameIn":["Bob","Ann"]}`, true},
		{"BINARY", "Ann", `{"NameStartsWith":"an"}`, true}, // as LIKE of the file
		{"NOCASE", "Ann", `{"Name":"aNN"}`, true},
		{"NOCASE", "É", `{"Name":"é"}`, false},
		{"NOCASE", "Ann", `{"Name":"ann "}`, false},
		{"RTRIM", "Ann", `{"Name":"Ann  "}`, true},
		{"RTRIM", "Ann", `{"Name":"ann"}`, false},
		{"DEC", "1.50", `{"Name":"1.5"}`, true},
	} {
		value, err := json.Marshal(test.value)
		if err != nil {
			t.Fatal(err)
		}
		body := &condition.Body{
			Data:   fmt.Appendf(nil, `{"Op":"created","KeyFields":{},"Record":{"Name":%s}}`, value),
			Change: &condition.Change{Fields: []string{"Name"}, Collations: map[string]string{"Name": test.collation}},
		}
		unmet := parse(t, test.condition, kind).Unmet(body)
		if met := unmet == ""; met != test.met {
			t.Errorf("%s for %q with the collation %q: got %v, want %v", test.condition, test.value, test.collation, met, test.met)
		}
	}
}
