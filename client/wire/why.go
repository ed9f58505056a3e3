package wire

// Why is the history of a key or of a message in the order of time: changes of records, events,
// messages and attempts, and why any of them are missing.
type Why struct {
	Key   string // of the event, and so of the message; empty if the event has none
	Steps []WhyStep
	More  bool `json:",omitempty"` // there are older steps
}

// WhyStep is one line of Why. Its IDs are empty if they do not apply.
type WhyStep struct {
	At   Timestamp `json:",omitzero"` // left out for the present state
	Step string    // one of the constants
	Text string
	Code int       `json:",omitempty"` // HTTP status of an attempt, 0 without a response
	Due  Timestamp `json:",omitzero"`  // the next attempt

	Kind           string `json:",omitempty"`
	ChangeID       int64  `json:",omitempty"`
	EventID        string `json:",omitempty"`
	EventName      string `json:",omitempty"`
	SubscriberID   string `json:",omitempty"`
	SubscriptionID string `json:",omitempty"`
	MessageID      string `json:",omitempty"`
	Subscriber     string `json:",omitempty"` // name of the subscriber
	URL            string `json:",omitempty"` // of the subscription or message, without its query
}

// Values of WhyStep.Step.
const (
	WhyChange         = "change"
	WhyEvent          = "event"
	WhyMessage        = "message"
	WhyAttempt        = "attempt"
	WhyDelivered      = "delivered"
	WhyFailed         = "failed"
	WhyRetrying       = "retrying"
	WhyWaiting        = "waiting"
	WhyBreakerOpen    = "breaker open"
	WhyDisabled       = "disabled"
	WhyHeld           = "held" // the owner of the subscription may not read the record
	WhyDeleted        = "deleted"
	WhyNoSubscription = "no subscription"
	WhyUnmet          = "condition not met"
	WhyNoEvent        = "no event"
	WhyNoChange       = "no change"
	WhyNotCaptured    = "not captured"
)
