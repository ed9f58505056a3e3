package wire

// User is a user who signs in with a password. Replies never contain the password.
type User struct {
	UserName          string
	DisplayName       string
	Role              string // reader, publisher, writer, admin
	AddedDateTime     string // UTC, like all times of accounts
	LastSavedDateTime string
}

// APIKey is an API key for programs.
type APIKey struct {
	KeyID            string
	Name             string
	Role             string
	AddedDateTime    string
	ExpiryDateTime   string `json:",omitempty"` // absent: never
	LastUsedDateTime string `json:",omitempty"` // absent: never; up to a minute old
	Key              string `json:",omitempty"` // the key; only in the reply to its creation
}

// CurrentSession describes the caller of a request and how it was authenticated.
type CurrentSession struct {
	UserName       string // or the name of the API key
	DisplayName    string
	Role           string
	Via            string // cookie, header, basic, bearer
	SessionID      string `json:"SessionId,omitempty"` // masked as in the request log
	KeyID          string `json:",omitempty"`
	ExpiryDateTime string `json:",omitempty"` // end of the session

	// EmbeddedRecords reports whether business records are in the embedded file, so that reading
	// all of them burdens no database server.
	EmbeddedRecords bool `json:",omitempty"`
}

// UserRequest is a request that creates or updates a user. An update does not change
// nil members.
type UserRequest struct {
	UserName        string  `json:",omitempty"`
	DisplayName     *string `json:",omitempty"`
	Role            *string `json:",omitempty"`
	Password        *string `json:",omitempty"`
	CurrentPassword *string `json:",omitempty"` // required to change one's own password without the role admin
}

// APIKeyRequest is a request that creates an API key.
type APIKeyRequest struct {
	Name           string
	Role           string
	ExpiryDateTime string `json:",omitempty"` // or never; absent: 90 days
}

// NeverExpires is the ExpiryDateTime of a key that does not expire.
const NeverExpires = "never"
