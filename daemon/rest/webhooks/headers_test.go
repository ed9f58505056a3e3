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
		{text: `[{"Name":"X","Value":"Y"}]`, want: headers, ok: true},
		{text: ` [{"name":"X","value":"Y"}] `, want: headers, ok: true},
		{text: `[{Name:X,Value:Y}]`, want: headers, ok: true},
		{text: `[{Value:Y,Name:X}]`, want: headers, ok: true},
		{
			text: `[{Name:Authorization,Value:Bearer a:b},{Name:X,Value:"a,""b""}"}]`,
			want: []webhook.Header{
				{Name: "Authorization", Value: "Bearer a:b"},
				{Name: "X", Value: `a,"b"}`},
			},
			ok: true,
		},
		{text: `[{Name:X,Value:}]`, want: []webhook.Header{{Name: "X", Value: ""}}, ok: true},
		{text: `[]`, want: nil, ok: true},
		{text: `[{"Name":"X","Value":7}]`, want: []webhook.Header{{Name: "X", Value: "7"}}, ok: true},
		{text: `[{Name:X,Value:5" bolt}]`, want: []webhook.Header{{Name: "X", Value: `5" bolt`}}, ok: true},
		{
			text: `[{"Name":"X","Value":"a\"}b"}, {"Name":"Y"}]`,
			want: []webhook.Header{{Name: "X", Value: `a"}b`}, {Name: "Y"}},
			ok:   true,
		},
		{
			text: `[{"SubscriptionRequestHeaderID":"00000000000000000000000000000000","Name":"X","Value":"Y"}]`,
			want: headers,
			ok:   true,
		},
		{text: `[{SubscriptionRequestHeaderID:1,Name:X,Value:Y}]`, want: headers, ok: true},
		{text: `[{"Name":"X","Valeu":"Y"}]`, want: nil, ok: false},
		{text: `[{Name:X,Other:Y}]`, want: nil, ok: false},
		{text: `[{Name:X`, want: nil, ok: false},
		{text: `[{Name:X,Value:Y}`, want: nil, ok: false},
		{text: `[{Name:X,Value:Y}]x`, want: nil, ok: false},
		{text: `{"Name":"X","Value":"Y"}`, want: headers, ok: true},
		{text: `{Name:X,Value:Y}`, want: headers, ok: true},
		{text: `{"Name":"X"}x`, want: nil, ok: false},
		// A repeated name.
		{
			text: `{"Name":"X"},{"Name":"Y","Value":""}`,
			want: []webhook.Header{{Name: "X"}, {Name: "Y"}},
			ok:   true,
		},
		{text: `X: Y`, want: nil, ok: false},
		{text: ``, want: nil, ok: false},
	}

	for _, tt := range tests {
		got, err := parseHeaders(tt.text)
		if (err == nil) != tt.ok {
			t.Errorf("%s: the error is %v, want an error: %t", tt.text, err, !tt.ok)
			continue
		}
		if err == nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.text, got, tt.want)
		}
	}
}

func FuzzParseHeaders(f *testing.F) {
	for _, text := range []string{
		`[{"Name":"X","Value":"Y"}]`,
		`[{Name:X,Value:"a""b"}]`,
		`[{`,
		`[{Name:X,Value:Y},]`,
	} {
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
