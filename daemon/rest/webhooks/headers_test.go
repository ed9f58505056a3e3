package webhooks

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/webhook"
)

func TestParseHeaders(t *testing.T) {
	headers := []webhook.Header{{Name: "X", Value: "Y"}}
	tests := []struct {
		text string
		want []webhook.Header
		ok   bool
	}{
		{`[{"Name":"X","Value":"Y"}]`, headers, true},
		{` [{"name":"X","value":"Y"}] `, headers, true},
		{`[{Name:X,Value:Y}]`, headers, true},
		{`[{Value:Y,Name:X}]`, headers, true},
		{`[{Name:Authorization,Value:Bearer a:b},{Name:X,Value:"a,""b""}"}]`, []webhook.Header{{Name: "Authorization", Value: "Bearer a:b"}, {Name: "X", Value: `a,"b"}`}}, true},
		{`[{Name:X,Value:}]`, []webhook.Header{{Name: "X", Value: ""}}, true},
		{`[]`, nil, true},
		{`[{"Name":"X","Value":7}]`, []webhook.Header{{Name: "X", Value: "7"}}, true},
		{`[{Name:X,Value:5" bolt}]`, []webhook.Header{{Name: "X", Value: `5" bolt`}}, true},
		{`[{"Name":"X","Value":"a\"}b"}, {"Name":"Y"}]`, []webhook.Header{{Name: "X", Value: `a"}b`}, {Name: "Y"}}, true},
		{`[{"SubscriptionRequestHeaderID":"00000000000000000000000000000000","Name":"X","Value":"Y"}]`, headers, true},
		{`[{SubscriptionRequestHeaderID:1,Name:X,Value:Y}]`, headers, true},
		{`[{"Name":"X","Valeu":"Y"}]`, nil, false},
		{`[{Name:X,Other:Y}]`, nil, false},
		{`[{Name:X`, nil, false},
		{`[{Name:X,Value:Y}`, nil, false},
		{`[{Name:X,Value:Y}]x`, nil, false},
		{`{"Name":"X","Value":"Y"}`, headers, true},
		{`{Name:X,Value:Y}`, headers, true},
		{`{"Name":"X"}x`, nil, false},
		{`{"Name":"X"},{"Name":"Y","Value":""}`, []webhook.Header{{Name: "X"}, {Name: "Y"}}, true}, // a repeated name
		{`X: Y`, nil, false},
		{``, nil, false},
	}
	for _, tt := range tests {
		got, err := parseHeaders(tt.text)
		if (err == nil) != tt.ok || err == nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, %v", tt.text, got, err)
		}
	}
}

func FuzzParseHeaders(f *testing.F) {
	for _, text := range []string{`[{"Name":"X","Value":"Y"}]`, `[{Name:X,Value:"a""b"}]`, `[{`, `[{Name:X,Value:Y},]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		headers, err := parseHeaders(text)
		if err != nil && headers != nil {
			t.Error("headers returned with an error")
		}
		if err == nil && webhook.CheckHeaders(headers) == nil {
			for _, h := range headers {
				if strings.ContainsAny(h.Name+h.Value, "\r\n") {
					t.Errorf("%q was accepted", h)
				}
			}
		}
	})
}
