package encode

import (
	"testing"

	"github.com/bizhook/whd/client/wire"
)

func failureStatus() wire.ResponseStatus {
	return wire.ResponseStatus{
		ErrorCode: "ArgumentException",
		Message:   "2 members cannot be read",
		Errors: []wire.FieldError{
			{
				ErrorCode: "ArgumentException",
				FieldName: "QuantityBetween",
				Message:   `takes 2 values, "a" and "b", <not> 3`,
			},
			{FieldName: "Take", Message: "must be a whole number", Meta: map[string]string{"Max": "1000"}},
		},
		Meta: map[string]string{"RequestId": "01J", "Near": "Quantity"},
	}
}

func TestFailures(t *testing.T) {
	plain := wire.ResponseStatus{
		ErrorCode: "NotFound",
		Message:   "no operation X; near: Y, Z",
		Meta:      map[string]string{"RequestId": "01J"},
	}
	query := mixed()
	for _, f := range textFormats() {
		golden(t, "failure", f, f.Failure(nil, plain, nil))
		golden(t, "failure-query", f, f.Failure(nil, failureStatus(), &query))
	}
}

func TestFailureAppends(t *testing.T) {
	for _, f := range textFormats() {
		got := f.Failure([]byte("before"), wire.ResponseStatus{}, nil)
		if len(got) <= len("before") || string(got[:len("before")]) != "before" {
			t.Errorf("%s: got %q, want an error response after the given bytes", f.Name, got)
		}
	}
}
