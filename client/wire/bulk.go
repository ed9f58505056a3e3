package wire

// MessagesRetried answers the wish to send all messages again that match a
// filter. Of a dry run it says what would have been done.
type MessagesRetried struct {
	Matched int64
	Retried int64
	Skipped int64 // received already, not attempted yet and due anyway, or gone meanwhile
	DryRun  bool  `json:",omitempty"`
}

// MessagesDeleted answers the wish to delete all messages that match a filter.
// Of a dry run it says what would have been done.
type MessagesDeleted struct {
	Matched int64
	Deleted int64
	DryRun  bool `json:",omitempty"`
}

// SecretRequest replaces the secret of a subscription.
type SecretRequest struct {
	Secret  string `json:",omitempty"` // whsec_ and 24 to 64 bytes in base64; empty for a new one
	KeepFor string `json:",omitempty"` // how long the present one signs as well: 0, or such as 12h; empty for 24h
}

// RotatedSecret is the secret that messages of a subscription are signed with
// from now on. It is shown this once.
type RotatedSecret struct {
	Secret         string
	OldSecretUntil Timestamp `json:",omitzero"` // until when the one before signs as well; zero where it does not
}
