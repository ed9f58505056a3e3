package wire

// MessagesRetried is the reply to a request to retry matching messages. After a dry
// run it has the numbers that would result.
type MessagesRetried struct {
	Matched int64
	Retried int64
	Skipped int64 // already received, or deleted in the meantime

	// Replayed is how many of Retried had been delivered: they are sent once more.
	Replayed int64 `json:",omitempty"`

	// Delivered messages of subscriptions with an order, and a warning about them.
	InOrder int64  `json:",omitempty"`
	Warning string `json:",omitempty"`

	DryRun bool `json:",omitempty"`

	// Counted is the text for the member Counted of a later request, which then changes only
	// messages of this dry run. It is empty for other requests, and if no message matched.
	Counted string `json:",omitempty"`
}

// MessagesDeleted is the reply to a request to delete matching messages. After a dry run
// it has the numbers that would result.
type MessagesDeleted struct {
	Matched int64
	Deleted int64
	DryRun  bool `json:",omitempty"`

	// Counted is the text for the member Counted of a later request, as in MessagesRetried.
	Counted string `json:",omitempty"`
}

// SecretRequest replaces the secret of a subscription.
type SecretRequest struct {
	Secret string `json:",omitempty"` // whsec_ and 24 to 64 bytes in base64; empty: a generated one

	// KeepFor is the time for which the old secret is used, too: 0 to 720h, such as 12h, 7d or
	// PT12H; empty: 24h.
	KeepFor string `json:",omitempty"`
}

// RotatedSecret is the new signing secret of a subscription. No other reply has it.
type RotatedSecret struct {
	Secret         string
	OldSecretUntil Timestamp `json:",omitzero"` // end of the use of the old secret; zero if it is not used

	SigningSecrets  int       // number of secrets that sign messages now, including the new one
	OldSecretsUntil Timestamp `json:",omitzero"` // end of the use of all old secrets; zero if none is used
}
