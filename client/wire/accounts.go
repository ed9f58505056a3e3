package wire

// User is a person or program that signs in with a password, which no reply
// shows.
type User struct {
	UserName          string
	DisplayName       string
	Role              string // reader, publisher, writer, admin
	AddedDateTime     string // UTC, as all times of accounts
	LastSavedDateTime string
}

// APIKey is a key that programs sign in with.
type APIKey struct {
	KeyID            string
	Name             string
	Role             string
	AddedDateTime    string
	ExpiryDateTime   string `json:",omitempty"` // absent: never
	LastUsedDateTime string `json:",omitempty"` // absent: never; up to a minute behind
	Key              string `json:",omitempty"` // the key itself, in the answer to its creation only
}

// CurrentSession is who a request comes from, and how they came.
type CurrentSession struct {
	UserName       string // or the name of the API key
	DisplayName    string
	Role           string
	Via            string // cookie, header, basic, bearer
	SessionID      string `json:"SessionId,omitempty"` // masked: what the request log shows of it
	KeyID          string `json:",omitempty"`
	ExpiryDateTime string `json:",omitempty"` // of the session
}

// UserRequest is the members of a request that adds or changes a user. In a
// change, nil members stay as they are.
type UserRequest struct {
	UserName        string  `json:",omitempty"`
	DisplayName     *string `json:",omitempty"`
	Role            *string `json:",omitempty"`
	Password        *string `json:",omitempty"`
	CurrentPassword *string `json:",omitempty"` // needed by who is no admin and changes their own
}

// APIKeyRequest is the members of a request that makes an API key.
type APIKeyRequest struct {
	Name           string
	Role           string
	ExpiryDateTime string `json:",omitempty"` // or never; 90 days where it is absent
}

// NeverExpires in an APIKeyRequest is no expiry.
const NeverExpires = "never"
