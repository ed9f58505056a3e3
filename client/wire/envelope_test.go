package wire

import (
	"encoding/json"
	"testing"
)

// TestResponseStatusOmitsEmptyMembers: the status of a success is an empty object.
func TestResponseStatusOmitsEmptyMembers(t *testing.T) {
	for _, c := range []struct {
		name string
		body any
		want string
	}{
		{"success", Failure{}, `{"ResponseStatus":{}}`},
		{"error", Failure{ResponseStatus{ErrorCode: "NotFound", Message: "no such record"}},
			`{"ResponseStatus":{"ErrorCode":"NotFound","Message":"no such record"}}`},
		{"field error", Failure{ResponseStatus{ErrorCode: "ArgumentException", Errors: []FieldError{{FieldName: "Take"}}}},
			`{"ResponseStatus":{"ErrorCode":"ArgumentException","Errors":[{"FieldName":"Take"}]}}`},
		{"login", AuthenticateResponse{SessionID: "x", UserName: "u"},
			`{"SessionId":"x","UserName":"u","DisplayName":"","ResponseStatus":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.body)
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
}
