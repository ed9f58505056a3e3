package edge

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// TestLoggedBody checks that the request log gets the body that was sent: the short error, if
// there is no memory for the response.
func TestLoggedBody(t *testing.T) {
	const maxBody = 100
	recorder := httptest.NewRecorder()
	x := &Context{
		Response: NewResponse(recorder, time.Minute),
		Call:     Call{Route: &CompiledRoute{}},
		Logged:   Logged{MaxBody: maxBody},
	}
	x.Response.Admission = NewAdmission(1, NewBudget(0), nil)
	err := x.Write(http.StatusOK, bytes.Repeat([]byte("x"), replyFree+1))
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("a response without memory returned the error %v, want Unavailable", err)
	}
	if len(x.Logged.Body) > 0 {
		t.Errorf("the log has the body %q, which was not sent", x.Logged.Body)
	}

	x.failShort(fault.From(err))
	sent := recorder.Body.String()
	if got := string(x.Logged.Body); got != sent || sent == "" {
		t.Errorf("the log has the body %q, want that of the response, %q", got, sent)
	}
}

// TestLengthOfLoggedBody checks that the request log gets only the start of a long body.
func TestLengthOfLoggedBody(t *testing.T) {
	for _, tt := range []struct {
		maxBody int
		want    string
	}{
		{maxBody: 0, want: ""},
		{maxBody: 3, want: "abc"},
		{maxBody: 5, want: "abcde"},
		{maxBody: 100, want: "abcdef"},
	} {
		x := &Context{
			Response: NewResponse(httptest.NewRecorder(), time.Minute),
			Logged:   Logged{MaxBody: tt.maxBody},
		}
		if err := x.WriteParts(http.StatusOK, []byte("abcd"), []byte("ef")); err != nil {
			t.Fatal(err)
		}
		if got := string(x.Logged.Body); got != tt.want {
			t.Errorf("the log of at most %d bytes has the body %q, want %q", tt.maxBody, got, tt.want)
		}
	}
}
