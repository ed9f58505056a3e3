// Package wire defines the requests and replies of the service and the text form of
// every type of value.
package wire

// ResponseStatus describes an error. It is empty on success.
type ResponseStatus struct {
	ErrorCode  string            `json:",omitempty"`
	Message    string            `json:",omitempty"`
	StackTrace string            `json:",omitempty"`
	Errors     []FieldError      `json:",omitempty"`
	Meta       map[string]string `json:",omitempty"`
}

// FieldError is the error of a member of a request.
type FieldError struct {
	ErrorCode string            `json:",omitempty"`
	FieldName string            `json:",omitempty"`
	Message   string            `json:",omitempty"`
	Meta      map[string]string `json:",omitempty"`
}

// Failure is the body of a reply that reports an error.
type Failure struct {
	ResponseStatus ResponseStatus
}

// AuthenticateResponse is the reply to a login and to GET /auth.
type AuthenticateResponse struct {
	SessionID      string `json:"SessionId"`
	UserName       string
	DisplayName    string
	ResponseStatus ResponseStatus
}

// Header names: those of the service, and others that several packages use.
const (
	HeaderRequestID   = "X-Request-Id"
	HeaderSessionID   = "X-Ss-Id"
	HeaderRowCount    = "X-Row-Count"
	HeaderDigest      = "X-Digest"
	HeaderOffset      = "X-Offset"
	HeaderTotal       = "X-Total"
	HeaderNextCursor  = "X-Next-Cursor"
	HeaderNextToken   = "X-Next-Token" // after the changes, or of the copy
	HeaderTakeClamped = "X-Take-Clamped"

	// HeaderFormulaGuard is true if texts of CSV that look like a formula have an apostrophe
	// before them. A request can turn that off by false.
	HeaderFormulaGuard = "X-Formula-Guard"

	HeaderIdempotencyKey = "Idempotency-Key"
	HeaderReplayed       = "Idempotent-Replayed" // true: this is the response to an earlier request with the same key
	HeaderIgnoredMembers = "X-Ignored-Members"
	HeaderListCompleted  = "X-AutoBatch-Completed" // number of requests of a list that succeeded
	HeaderMethodOverride = "X-HTTP-Method-Override"
)

// UnknownTotal is the value of HeaderTotal if counting would take too long.
const UnknownTotal = "unknown"

// SessionCookie is the name of the session cookie.
const SessionCookie = "ss-id"
