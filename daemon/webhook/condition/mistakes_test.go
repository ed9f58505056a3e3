package condition_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/condition"
)

// TestMistakes lists each wrong member with the reason.
func TestMistakes(t *testing.T) {
	t.Run("records", func(t *testing.T) {
		for _, m := range mistakesOfRecords {
			m.check(t, debtor(t))
		}
	})
	t.Run("posted", func(t *testing.T) {
		for _, m := range mistakesOfPosted {
			m.check(t, nil)
		}
	})
	t.Run("no update", func(t *testing.T) {
		for _, event := range []string{"debtor.created", "Debtor.Deleted"} {
			m := mistake{
				text:  `{"Changed":"Status","Before.Status":1,"Status":2}`,
				event: event,
				want: []string{
					"Where.Changed is never met: " + event + " is not sent for updates, so no field has changed",
					"Where.Before.Status is never met: " + event + " is not sent for updates, so no field has changed",
				},
			}
			m.check(t, debtor(t))
		}
	})
	t.Run("too many fields", func(t *testing.T) {
		fields := make([]record.Field, 130)
		for i := range fields {
			fields[i] = record.Field{Name: fmt.Sprint("F", i), Type: record.Int}
		}
		m := mistake{
			text: `{"Changed":"Status"}`,
			want: []string{
				"Where.Changed is not known for Debtor, which has more than 128 captured fields; capture_fields can name fewer",
			},
		}
		m.check(t, debtor(t, fields...))
	})
}

// check parses the condition for events of a kind, nil for posted ones.
func (m mistake) check(t *testing.T, kind *record.Kind) {
	t.Helper()
	_, err := condition.Parse(m.text, condition.Options{
		Kind:  kind,
		Event: m.event,
		Zone:  time.UTC,
		Wide:  []string{"Note"},
	})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("parsing %.60s: error %v, want Invalid", m.text, err)
		return
	}
	var got []string
	for _, f := range fault.From(err).Fields {
		got = append(got, f.Name+" "+f.Message)
	}
	if !slices.Equal(got, m.want) {
		t.Errorf("parsing %.60s: mistakes\n%q, want\n%q", m.text, got, m.want)
	}
}

// mistake is a condition that is not valid, with the reason for each wrong member.
type mistake struct {
	text  string
	event string // empty for any
	want  []string
}

// mistakesOfRecords are mistakes in conditions on events of the kind debtor.
var mistakesOfRecords = []mistake{
	{
		text: `[1]`,
		want: []string{
			`Where must be an object, such as {"StatusIn":[1,2]}`,
		},
	},
	{
		text: `{"Status":1,"status":2}`,
		want: []string{
			"Where.status is there twice",
		},
	},
	{
		text: `{"Name":"` + strings.Repeat("x", condition.MaxText) + `"}`,
		want: []string{
			"Where must be at most 8192 bytes long",
		},
	},
	{
		text: `{"LimitBetween":[1]}`,
		want: []string{
			"Where.LimitBetween takes two values, not 1",
		},
	},
	{
		text: `{"Stat":1}`,
		want: []string{
			"Where.Stat is unknown for Debtor; did you mean Status or StatusGreaterThanOrEqualTo or StatusGreaterThan?",
		},
	},
	{
		text: `{"NameBetween":["a","b"],"NameGreaterThan":"a"}`,
		want: []string{
			"Where.NameBetween compares the order of text, which depends on the database",
			"Where.NameGreaterThan compares the order of text, which depends on the database",
		},
	},
	{
		text: `{"Before.NameBetween":["a","b"]}`,
		want: []string{
			"Where.Before.NameBetween compares the order of text, which depends on the database",
		},
	},
	{
		text: `{"Status":"x","Status\u0000":1}`,
		want: []string{
			"Where.Status must be a whole number from -2147483648 to 2147483647",
			"Where.Status? is unknown for Debtor; did you mean Status or StatusIn?",
		},
	},
	{
		text: `{"Status":null}`,
		want: []string{
			"Where.Status must have a value; for missing values there are IsNull and IsNotNull",
		},
	},
	{
		text: `{"StatusIn":[]}`,
		want: []string{
			"Where.StatusIn must have a value: an empty list or value is never met",
		},
	},
	{
		text: `{"Status":[1,2]}`,
		want: []string{
			"Where.Status takes one value, not a list",
		},
	},
	{
		text: `{"StatusContains":1}`,
		want: []string{
			"Where.StatusContains is not a filter of Status, which accepts Status, StatusGreaterThanOrEqualTo, StatusGreaterThan, StatusLessThan, StatusLessThanOrEqualTo, StatusNotEqualTo, StatusBetween, StatusIn",
		},
	},
	{
		text: `{"Saved":"2026-01-01","Photo":"QUJD","Note":"x"}`,
		want: []string{
			"Where.Saved refers to Saved, which is not captured",
			"Where.Photo refers to Photo, which is not captured",
			"Where.Note refers to Note, which can have more than 4 KiB",
		},
	},
	{
		text: `{"Before.":1}`,
		want: []string{
			"Where.Before. is unknown for Debtor",
		},
	},
	{
		text: `{"Changed":""}`,
		want: []string{
			"Where.Changed must be a field or a list of fields",
		},
	},
	{
		text: `{"Changed":[]}`,
		want: []string{
			"Where.Changed must be a field or a list of fields",
		},
	},
	{
		text: `{"Changed":{"a":1}}`,
		want: []string{
			"Where.Changed must be a field or a list of fields",
		},
	},
	{
		text: `{"Changed":["Status","Nam"]}`,
		want: []string{
			"Where.Changed refers to Nam, which is unknown for Debtor; did you mean Name?",
		},
	},
	{
		text: `{"Changed":"Saved"}`,
		want: []string{
			"Where.Changed refers to Saved, which is not captured",
		},
	},
	{
		text: `{"NameIsNotNull":"0","Before.NameIsNull":false}`,
		want: []string{
			"Where.NameIsNotNull must be true; for the opposite use NameIsNull",
			"Where.Before.NameIsNull must be true; for the opposite use NameIsNotNull",
		},
	},
	{
		text: `{"StatusBetween":[5,1],"Before.LimitBetween":[1.5,1.4]}`,
		want: []string{
			"Where.StatusBetween is never met: its first value is greater than its second one",
			"Where.Before.LimitBetween is never met: its first value is greater than its second one",
		},
	},
	{
		text: `{"StatusGreaterThan":5,"StatusLessThan":5}`,
		want: []string{
			"Where.StatusLessThan is never met together with the other conditions on Status",
		},
	},
	{
		text: `{"StatusBetween":[1,5],"StatusGreaterThanOrEqualTo":6}`,
		want: []string{
			"Where.StatusGreaterThanOrEqualTo is never met together with the other conditions on Status",
		},
	},
	{
		text: `{"Status":1,"StatusNotEqualTo":1}`,
		want: []string{
			"Where.StatusNotEqualTo is never met together with the other conditions on Status",
		},
	},
	{
		text: `{"Name":"a","NameIn":["b","c"]}`,
		want: []string{
			"Where.NameIn is never met together with the other conditions on Name",
		},
	},
	{
		text: `{"LimitIsNull":true,"LimitLessThan":1}`,
		want: []string{
			"Where.LimitLessThan is never met together with the other conditions on Limit",
		},
	},
	{
		text: `{"NameIsNotNull":"yes","Before.NameIsNull":5,"LimitIsNull":"true","StatusIsNull":"","NoIsNull":[]}`,
		want: []string{
			"Where.NameIsNotNull must be true, without quotes",
			"Where.Before.NameIsNull must be true, without quotes",
			"Where.LimitIsNull must be true, without quotes",
			"Where.StatusIsNull must be true, without quotes",
			"Where.NoIsNull must be true, without quotes",
		},
	},
}

// mistakesOfPosted are mistakes in conditions on posted events.
var mistakesOfPosted = []mistake{
	{
		text: `{"Total":1,"Total":2}`,
		want: []string{
			"Where.Total is there twice",
		},
	},
	{
		text: `{"Changed":"Status"}`,
		want: []string{
			"Where.Changed is only for events that are published for changes of records",
		},
	},
	{
		text: `{"Before.Status":1}`,
		want: []string{
			"Where.Before.Status is only for events that are published for changes of records",
		},
	},
	{
		text: `{"Total":null}`,
		want: []string{
			"Where.Total must have a value; for missing values there are IsNull and IsNotNull",
		},
	},
	{
		text: `{"TotalGreaterThan":"a"}`,
		want: []string{
			"Where.TotalGreaterThan compares the order of text, which depends on the database",
		},
	},
	{
		text: `{"TotalIn":[1,"a"]}`,
		want: []string{
			"Where.TotalIn must be a list of values of one type",
		},
	},
	{
		text: `{"Total":{"a":1}}`,
		want: []string{
			"Where.Total must be a value or a list of values, without nulls, lists or objects in it",
		},
	},
	{
		text: `{"Customer.Country":"DE","Customer.NameIn":["a"]}`,
		want: []string{
			"Where.Customer.Country is not possible: conditions compare only top-level members of the body",
			"Where.Customer.NameIn is not possible: conditions compare only top-level members of the body",
		},
	},
	{
		text: `{"":1,"A":2}`,
		want: []string{
			"Where. is not possible: the member has no name",
		},
	},
	{
		text: `{"NameIsNull":false}`,
		want: []string{
			"Where.NameIsNull must be true; for the opposite use NameIsNotNull",
		},
	},
	{
		text: `{"TotalIn":[]}`,
		want: []string{
			"Where.TotalIn must have a value: an empty list or value is never met",
		},
	},
	{
		text: `{"TotalBetween":[5,1]}`,
		want: []string{
			"Where.TotalBetween is never met: its first value is greater than its second one",
		},
	},
	{
		text: `{"Total":1,"TotalIn":["1"]}`,
		want: []string{
			"Where.TotalIn is never met together with the other conditions on Total",
		},
	},
	{
		text: `{"OpenGreaterThan":true}`,
		want: []string{
			"Where.OpenGreaterThan takes a number, not true or false",
		},
	},
	{
		text: `{"NameContains":5}`,
		want: []string{
			"Where.NameContains takes a text, not a number",
		},
	},
	{
		text: `{"PaidNotEqualTo":true}`,
		want: []string{
			"Where.PaidNotEqualTo takes a number or a text, not true or false",
		},
	},
	{
		text: `{"TotalIsNull":"yes"}`,
		want: []string{
			"Where.TotalIsNull must be true, without quotes",
		},
	},
	{
		text: `{"StatusIn":5}`,
		want: []string{
			"Where.StatusIn must be a list of values, such as [1,2]; a member with the name StatusIn is compared by StatusInIn",
		},
	},
	{
		text: `{"TotalIn":"1,2"}`,
		want: []string{
			`Where.TotalIn must be a list of values, such as ["a","b"]; a member with the name TotalIn is compared by TotalInIn`,
		},
	},
	{
		text: `{"TotalBetween":5}`,
		want: []string{
			"Where.TotalBetween must be a list of two values, such as [1,9]",
		},
	},
	{
		text: `{"StatusNotIn":[1]}`,
		want: []string{
			"Where.StatusNotIn is not a comparison: there is no NotIn; StatusNotEqualTo compares with one value",
		},
	},
	{
		text: `{"TotalBiggerThan":1,"TotalSmallerThan":1,"totalgreaterthan":1,"TotalEquals":1}`,
		want: []string{
			"Where.TotalBiggerThan is not a comparison; did you mean TotalGreaterThan?; to compare a member of the body with this name, use TotalBiggerThanIn and a list",
			"Where.TotalSmallerThan is not a comparison; did you mean TotalLessThan?; to compare a member of the body with this name, use TotalSmallerThanIn and a list",
			"Where.totalgreaterthan is not a comparison; did you mean totalGreaterThan?; to compare a member of the body with this name, use totalgreaterthanIn and a list",
			"Where.TotalEquals is not a comparison; did you mean Total?; to compare a member of the body with this name, use TotalEqualsIn and a list",
		},
	},
	{
		text: `{"Take":5}`,
		want: []string{
			"Where.Take belongs to queries, and is not a condition; to compare a member of the body with this name, use TakeIn and a list",
		},
	},
}

// TestManyConditions checks that a condition with very many members is rejected by its length, before
// each member is compared with all others: subscribers without a login may send it.
func TestManyConditions(t *testing.T) {
	for _, members := range []int{10_000, 100_000} {
		var text strings.Builder
		for i := range members {
			fmt.Fprintf(&text, `,"a%d":1`, i)
		}
		start := time.Now()
		_, err := condition.Parse("{"+text.String()[1:]+"}", condition.Options{})
		const want = "Where must be at most 8192 bytes long"
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d members: error %v, want %q", members, err, want)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%d members were rejected after %s", members, took)
		}
	}
}
