package wire

import (
	"net/netip"
	"strings"
)

// Info is public information about the service.
type Info struct {
	Version        string
	ServerTime     string    // RFC 3339, in the zone of the records' zoneless times
	ServerDateTime Timestamp // the same time
	Features       []string
	Limits         Limits

	// WebhooksHostURL is the address at which users in the company reach the service.
	WebhooksHostURL string `json:",omitempty"`

	// PublicURL is the address of the service from outside the company.
	PublicURL string `json:",omitempty"`
}

// FeaturePortal is the feature that a service has if subscribers can open their pages in a browser.
const FeaturePortal = "portal"

// Limits has the limits of requests. Limits that do not apply are left out.
type Limits struct {
	MaxTake      int64 `json:",omitempty"` // rows of a page; a larger Take is reduced to it
	MaxIn        int   // values of one In
	MaxBody      int64 // bytes of a request's body
	MaxEventBody int64 `json:",omitempty"` // bytes of the body of an event
	MaxStreams   int   `json:",omitempty"` // concurrent live streams
	MaxHead      int   // bytes of URL and headers
}

// Setting is a setting that can change while the service runs.
type Setting struct {
	Name    string
	Value   string
	Default string
	Origin  string   // default, file FILE:LINE, variable NAME or flag --NAME
	Kind    string   // such as number, duration or true or false
	Choices []string `json:",omitempty"` // the allowed values, if they are a list
	Help    string
}

// SystemInfo has the version and the time under the names of the reference service.
type SystemInfo struct {
	JiwaVersion       string   `json:",omitempty"` // version of the ERP, if erp.version_source is set
	SQLServerDateTime DateTime // in the zone of the records' zoneless times
	Version           string   // version of this service
}

// RestPath is a path of an operation.
type RestPath struct {
	Path         string
	RequestType  string // name of the operation
	Summary      string
	AllowedVerbs string // methods, separated by commas
}

// TypesFile is a file with the requests and responses as types of a programming language.
type TypesFile struct {
	Language string
	Summary  string
	URL      string
}

// IsLoopback reports whether a host is the local machine: a loopback address, the unspecified address,
// to which systems connect locally, localhost or a name below it.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if address, err := netip.ParseAddr(host); err == nil {
		address = address.Unmap()
		return address.IsLoopback() || address.IsUnspecified()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
