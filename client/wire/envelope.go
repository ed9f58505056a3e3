// Package wire is the shape of what crosses the network: the envelopes, and
// the text form of every type of value.
package wire

// ResponseStatus says what went wrong. On success it is empty.
type ResponseStatus struct {
	ErrorCode  string            `json:",omitempty"`
	Message    string            `json:",omitempty"`
	StackTrace string            `json:",omitempty"`
	Errors     []FieldError      `json:",omitempty"`
	Meta       map[string]string `json:",omitempty"`
}

// FieldError is what is wrong with one member of a request.
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

// AuthenticateResponse answers a login, and GET /auth.
type AuthenticateResponse struct {
	SessionID      string `json:"SessionId"`
	UserName       string
	DisplayName    string
	ResponseStatus ResponseStatus
}

// The headers that are ours, and those whose spelling several packages need.
const (
	HeaderRequestID      = "X-Request-Id"
	HeaderSessionID      = "X-Ss-Id"
	HeaderRowCount       = "X-Row-Count"
	HeaderDigest         = "X-Digest"
	HeaderOffset         = "X-Offset"
	HeaderTotal          = "X-Total"
	HeaderTakeClamped    = "X-Take-Clamped"
	HeaderIdempotencyKey = "Idempotency-Key"
	HeaderReplayed       = "Idempotent-Replayed" // true: the answer is that to an earlier request under the same key
	HeaderIgnoredMembers = "X-Ignored-Members"
)

// SessionCookie is the name of the cookie that carries a session.
const SessionCookie = "ss-id"
