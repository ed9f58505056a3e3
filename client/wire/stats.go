package wire

// Stats are figures of the delivery of webhooks. All but Depth are of the daemon
// that answers, since it was started.
type Stats struct {
	ServerDateTime Timestamp
	SinceDateTime  Timestamp // when the daemon was started: it counts nothing of before
	Daemon         string    // the host that the daemon runs on
	Daemons        int       // that work on the store
	Window         TimeSpan  // that Totals, Latency, Delay and Minutes are of
	Totals         Traffic
	SuccessRate    *float64 `json:",omitempty"` // of the attempts, from 0 to 1; absent where there were none
	Latency        Latency  // of attempts
	Delay          Latency  // from publishing to delivery, of messages that the first attempt delivered
	Minutes        Minutes
	Depth          *Depth `json:",omitempty"` // absent where it was never counted
	DepthMessage   string `json:",omitempty"` // why it could not be counted again
	InHand         InHand
	Subscriptions  int
	Disabled       int      // of the subscriptions, by themselves or with their subscriber
	QueueWindow    TimeSpan `json:"LaneWindow"` // that the figures of Lanes are of: an hour at most
	Lanes          []Queue  // subscriptions with traffic, open messages or trouble; the worst first
	OtherLanes     int      // that are left out, being more than 500
}

// Traffic is what happened within some time.
type Traffic struct {
	Events    int64 // stored
	Messages  int64 // made of them
	Delivered int64 // attempts that the receiver took
	Failed    int64 // attempts that failed, and are made again
	GivenUp   int64 // messages that failed for good
}

// Latency is how long the quicker half of something took at most, and so on, as
// well as can be guessed; absent where there was nothing.
type Latency struct {
	P50 TimeSpan `json:",omitzero"`
	P95 TimeSpan `json:",omitzero"`
	P99 TimeSpan `json:",omitzero"`
}

// Minutes is Traffic by the minute, the oldest first. The last is not over.
type Minutes struct {
	From      Timestamp // when the first begins
	Events    []int64
	Messages  []int64
	Delivered []int64
	Failed    []int64
	GivenUp   []int64
}

// Depth is what is open in the whole store.
type Depth struct {
	CountedDateTime Timestamp
	NotSent         int64
	RetryPending    int64
	OldestDateTime  Timestamp `json:",omitzero"` // when the oldest of it was raised
}

// InHand is what the daemon is at.
type InHand struct {
	EventsWaiting    int // to be stored
	OutcomesWaiting  int // to be stored
	InFlight         int // attempts
	MessagesInMemory int // that wait for an attempt
	OpenBreakers     int // subscriptions whose endpoint is only probed
}

// The states of a lane's breaker.
const (
	BreakerClosed = "closed"
	BreakerOpen   = "open" // the endpoint is in trouble: one message goes out now and then
)

// Queue is the state of deliveries to one subscription.
type Queue struct {
	SubscriberID        string
	SubscriberName      string
	SubscriptionID      string
	EventName           string
	URL                 string
	IsEnabled           bool
	DisabledReason      string `json:",omitempty"`
	Ordered             bool
	InFlight            int // attempts
	Limit               int // of these, at present
	Breaker             string
	NextProbeDateTime   Timestamp `json:",omitzero"` // where the breaker is open
	FailingSince        Timestamp `json:",omitzero"` // where every attempt has failed since
	NextAttemptDateTime Timestamp `json:",omitzero"` // when the daemon has something to do for the subscription
	NotSent             int64
	RetryPending        int64
	Pending             int64     // both
	OldestDateTime      Timestamp `json:",omitzero"` // when the oldest of them was raised
	Delivered           int64
	Failed              int64
	GivenUp             int64
	P99                 TimeSpan `json:",omitzero"` // of attempts
	LastFailure         *Failed  `json:",omitempty"`
}

// Failed is an attempt that failed.
type Failed struct {
	At       Timestamp
	HTTPCode int    `json:",omitempty"` // absent where no answer came
	Message  string // the reason phrase, or why no answer came
}

// Pulse is what happened within the last second, and what is in hand: the event
// stats of a live stream.
type Pulse struct {
	At               Timestamp
	Events           int64 // stored
	Delivered        int64 // attempts that the receiver took
	Failed           int64 // attempts that failed
	InFlight         int   // attempts
	MessagesInMemory int   // that wait for an attempt
	OpenBreakers     int   // subscriptions whose endpoint is only probed
}
