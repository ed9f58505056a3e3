package wire

// Stats has webhook delivery statistics. Counts and latencies cover all daemons, and are stored for
// 48 hours; InHand and the states of queues are from the daemon that responds.
type Stats struct {
	ServerDateTime Timestamp
	SinceDateTime  Timestamp // when counting began, at most 48 hours ago
	Daemon         string    // the host that the daemon runs on
	Daemons        int       // daemons that use the store
	Window         TimeSpan  // period of Totals, Latency, Delay and Minutes
	Totals         Traffic
	SuccessRate    *float64 `json:",omitempty"` // share of successes of attempts, from 0 to 1; absent without attempts
	Latency        Latency  // latency of attempts
	Delay          Latency  // from publishing to delivery, for messages delivered by the first attempt
	Minutes        Minutes
	Depth          *Depth `json:",omitempty"` // absent if it has not been counted yet
	DepthMessage   string `json:",omitempty"` // error of the last count
	InHand         InHand
	Subscriptions  int
	Disabled       int      // subscriptions that are disabled or whose subscriber is
	QueueWindow    TimeSpan // period of Queues; at most an hour
	Queues         []Queue  // those with traffic, open messages or failures; the worst first
	OtherQueues    int      // number of queues left out, beyond 500
	OtherTroubled  int      `json:",omitempty"` // those of OtherQueues that fail, or are disabled with messages
	StatsLanes
}

// StatsLanes has the former names of QueueWindow, Queues and OtherQueues, for one release.
type StatsLanes struct {
	LaneWindow TimeSpan `deprecated:"QueueWindow"`
	Lanes      []Queue  `deprecated:"Queues"`
	OtherLanes int      `deprecated:"OtherQueues"`
}

// Traffic counts events, messages and attempts of a period.
type Traffic struct {
	Events    int64 // stored
	Messages  int64 // created for them
	Delivered int64 // successful attempts
	Failed    int64 // failed attempts that are retried
	GivenUp   int64 // messages that failed for good
}

// Latency has estimated percentiles of durations; absent without data.
type Latency struct {
	P50 TimeSpan `json:",omitzero"`
	P95 TimeSpan `json:",omitzero"`
	P99 TimeSpan `json:",omitzero"`
}

// Minutes is Traffic by minute, oldest first. The last minute is incomplete.
type Minutes struct {
	From      Timestamp // start of the first minute
	Events    []int64
	Messages  []int64
	Delivered []int64
	Failed    []int64
	GivenUp   []int64
}

// Depth counts the open messages of the whole store.
type Depth struct {
	CountedDateTime Timestamp
	NotSent         int64
	RetryPending    int64
	OldestDateTime  Timestamp `json:",omitzero"` // publication of the oldest
}

// InHand is the current work of the daemon.
type InHand struct {
	EventsWaiting    int // to be stored
	OutcomesWaiting  int // to be stored
	InFlight         int // attempts
	MessagesInMemory int // waiting for an attempt
	OpenBreakers     int // subscriptions with an open circuit breaker

	OldestAttempt TimeSpan `json:",omitzero"`  // running time of the oldest attempt in flight
	Overdue       int      `json:",omitempty"` // requests that run beyond the time limit of their attempts

	// Uncharged counts the attempts since the start that failed because of this machine or
	// service, by failure. They do not count as retries.
	Uncharged map[string]int64 `json:",omitempty"`

	// Blocked counts the subscriptions with messages that wait now because of such a failure.
	Blocked map[string]int64 `json:",omitempty"`

	Paused string `json:",omitempty"` // reason for which deliveries are paused
}

// States of a queue's circuit breaker.
const (
	BreakerClosed = "closed"
	BreakerOpen   = "open" // the endpoint fails; only probes are sent
)

// Queue is the state of the deliveries to a subscription.
type Queue struct {
	SubscriberID        string
	SubscriberName      string
	SubscriptionID      string
	EventName           string
	URL                 string
	IsEnabled           bool
	DisabledReason      string `json:",omitempty"`
	Ordered             bool
	OrderedByKey        bool
	InFlight            int // attempts
	Limit               int // current limit of InFlight
	Breaker             string
	NextProbeDateTime   Timestamp `json:",omitzero"`  // if the breaker is open
	WaitUntilDateTime   Timestamp `json:",omitzero"`  // end of a wait requested by Retry-After
	RateUntilDateTime   Timestamp `json:",omitzero"`  // next attempt that the rate limit allows, if messages wait for it
	MaxPerMinute        int       `json:",omitempty"` // attempts that may start in a minute; 0 for no limit
	FailingSince        Timestamp `json:",omitzero"`  // start of uninterrupted failures
	NextAttemptDateTime Timestamp `json:",omitzero"`  // next scheduled attempt
	NotSent             int64
	RetryPending        int64
	Pending             int64     // both
	OldestDateTime      Timestamp `json:",omitzero"` // publication of the oldest
	Delivered           int64
	Failed              int64
	GivenUp             int64
	P99                 TimeSpan `json:",omitzero"` // 99th percentile of attempts

	// Attempts counts all attempts by six minutes, the oldest first; absent without any. The last
	// six minutes are incomplete.
	Attempts []int64 `json:",omitempty"`

	LastFailure *Failed `json:",omitempty"`

	// HeldEvents has the events with held messages. They are held because the owner of the
	// subscription may not read their records. An event is listed once a message was about to be
	// sent.
	HeldEvents []string `json:",omitempty"`
}

// Failed is a failed attempt.
type Failed struct {
	At       Timestamp
	HTTPCode int    `json:",omitempty"` // absent without a response
	Message  string // the reason phrase, or the error
}

// Throughput has the counts of all daemons in the last second, and the current work of one: the
// event stats of a live stream.
type Throughput struct {
	At               Timestamp
	Events           int64 // stored
	Delivered        int64 // successful attempts
	Failed           int64 // attempts that failed
	InFlight         int   // attempts
	MessagesInMemory int   // waiting for an attempt
	OpenBreakers     int   // subscriptions with an open circuit breaker

	Troubles *Troubles `json:",omitempty"` // at most some seconds old; absent if not known
}

// Troubles are numbers that need attention.
type Troubles struct {
	Endpoints    int   // subscriptions that fail, or that are disabled while messages wait
	GivenUp      int64 // messages that failed for good in the last hour
	RetryPending int64 // messages that wait for a retry
}
