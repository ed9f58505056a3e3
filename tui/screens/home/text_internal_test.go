package home

import (
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
)

// TestResultHasOneStatus checks that the code of an answer's title is left out, also if a proxy has
// changed that of the response.
func TestResultHasOneStatus(t *testing.T) {
	code := 503
	m := wire.Message{LastMessageResponseHTTPCode: &code}
	for answer, want := range map[string]string{
		"":                          "503 Service Unavailable",
		"503 Service Unavailable":   "503 Service Unavailable",
		"500 Internal Server Error": "503 Internal Server Error",
		"500":                       "503 Service Unavailable",
		"999 bottles":               "503 999 bottles",
	} {
		if got := resultText(m, answer); got != want {
			t.Errorf("the result of answer %q is %q, want %q", answer, got, want)
		}
	}
}

// TestEndpointsAreCutInTheHost checks that the path stays as long as the host can be cut.
func TestEndpointsAreCutInTheHost(t *testing.T) {
	look := theme.New("", theme.Dark)
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{"127.0.0.1:5071 /creditors", 30, "127.0.0.1:5071 /creditors"},
		{"127.0.0.1:5071 /html/debtors", 26, "127.0…1:5071 /html/debtors"},
		{"127.0.0.1:5071 /wh/bookings/of/a/long/path", 30, ""},
	} {
		got := fitEndpoint(look, c.name, c.width)
		if c.want != "" && got != c.want || theme.Width(got) > c.width {
			t.Errorf("%q in %d cells is %q, want %q", c.name, c.width, got, c.want)
		}
	}
}

// TestFailureWithoutReasonPhrase checks that the code of a response without a reason phrase is followed
// by no blank, and that an endpoint that was disabled without a reason is called disabled.
func TestFailureWithoutReasonPhrase(t *testing.T) {
	o := &Overview{}
	for want, queue := range map[string]wire.Queue{
		"503":                     {IsEnabled: true, LastFailure: &wire.Failed{HTTPCode: 503}},
		"connection refused":      {IsEnabled: true, LastFailure: &wire.Failed{Message: "connection refused"}},
		"failing":                 {IsEnabled: true},
		"disabled":                {},
		"disabled: 410 Gone":      {DisabledReason: "410 Gone"},
		"503 Service Unavailable": {IsEnabled: true, LastFailure: &wire.Failed{HTTPCode: 503, Message: "Service Unavailable"}},
	} {
		if got := o.reason(queue); got != want {
			t.Errorf("the reason of %+v is %q, want %q", queue, got, want)
		}
	}
}
