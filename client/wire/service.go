package wire

// Info is what a service says of itself to everybody.
type Info struct {
	Version        string
	ServerTime     string    // RFC 3339, in the zone of the records' zoneless times
	ServerDateTime Timestamp // the same moment
	Features       []string
	Limits         Limits

	// WebhooksHostURL is the service's own address, by which the company reaches it.
	WebhooksHostURL string `json:",omitempty"`
}

// Limits are the bounds of what can be asked. Those that do not exist are left
// out.
type Limits struct {
	MaxTake      int64 `json:",omitempty"` // rows of a page; a larger Take is cut down to it
	MaxIn        int   // values of one In
	MaxBody      int64 // bytes of a request's body
	MaxEventBody int64 `json:",omitempty"` // bytes of the body of a request that raises an event
	MaxStreams   int   `json:",omitempty"` // live streams at a time
	MaxHead      int   // bytes of URL and headers
}

// Setting is a setting that may change while the service runs.
type Setting struct {
	Name    string
	Value   string
	Default string
	Origin  string   // default, file FILE:LINE, variable NAME or flag --NAME
	Kind    string   // such as number, duration or true or false
	Choices []string `json:",omitempty"` // the only values, where there are few
	Help    string
}
