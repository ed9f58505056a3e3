package webhook

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
)

// Members of a subscription that a rule may reject.
const (
	MemberURL      = "URL"
	MemberEvent    = "EventName"
	MemberHeaders  = "Headers"
	MemberRecID    = "RecID"
	MemberSchedule = "RetrySchedule"
	MemberRate     = "MaxPerMinute"
	MemberFormat   = "Format"

	// MemberRequestHeaders is another name of MemberHeaders.
	MemberRequestHeaders = "RequestHeaders"

	memberSubscriber = "SubscriberID"
)

// MaskedValue replaces the values of headers in responses.
const MaskedValue = "***"

// Rules validate subscriptions.
type Rules struct {
	Events     []record.Event // published events
	Guard      Guard
	TestTarget *url.URL // the service's own test target, nil for none

	MaxSubscriptions int // number of subscriptions of a subscriber that its SubscriberID alone can add
	MaxPerMinute     int // rate limit of subscriptions without one of their own; 0 for none

	// the kinds of captured events, by the event's name in lower case
	Captured map[string]*record.Kind
	// the roles that events of captured kinds require, including kinds that are no longer captured,
	// by name
	Roles map[string]string
	// reports whether the owner of a subscription may read a kind now; nil if there are no such kinds
	MayRead func(owner string, kind *record.Kind) bool

	Zone *time.Location // time zone of dates in the records
	// returns the fields of columns that can have more than 4 KiB; nil for none
	Wide func(kind *record.Kind) ([]string, error)
	// returns since when the values before changes of fields are known; nil for none
	KeptFrom func(kind *record.Kind) (map[string]time.Time, error)
}

// Limits of a subscription.
const (
	maxURL         = 2048
	maxHeaders     = 50
	maxHeaderName  = 256
	maxHeaderValue = 8192
	maxRetries     = 100
	maxWait        = 30 * 24 * time.Hour
)

// Limits are the limits of one subscriber for callers with only a SubscriberID. Subscriptions
// that administrators added count, but are kept if they exceed them.
type Limits struct {
	Subscriptions int
	Wildcards     int // subscriptions to a family of events or to all events
	HeaderBytes   int // names and values of the headers of all subscriptions
	PerMinute     int // highest rate limit of a subscription; 0 for any
}

// Limits that are not settings.
const (
	maxWildcards   = 20
	maxHeaderBytes = 64 << 10
)

// Limits returns the limits for callers with only a SubscriberID.
func (r Rules) Limits() *Limits {
	return &Limits{
		Subscriptions: r.MaxSubscriptions,
		Wildcards:     maxWildcards,
		HeaderBytes:   maxHeaderBytes,
		PerMinute:     r.MaxPerMinute,
	}
}

// CheckRate returns an error if the rate limit of a subscription is too high: otherwise a subscriber
// could remove the default limit, which administrators set.
func (l *Limits) CheckRate(perMinute int) error {
	if l.PerMinute == 0 || perMinute <= l.PerMinute {
		return nil
	}
	return Invalid(MemberRate, "can be at most %d with only a SubscriberID (webhooks.max_per_minute); an administrator can set a higher one",
		l.PerMinute)
}

// TooManySubscriptions returns the error for a subscription beyond the limit.
func (l *Limits) TooManySubscriptions() error {
	return Invalid(memberSubscriber, "has reached the limit of %d subscriptions that can be added with only a SubscriberID (webhooks.max_subscriptions); remove one, or add it as an administrator",
		l.Subscriptions)
}

// TooManyWildcards returns the error for a subscription to several events beyond the limit.
func (l *Limits) TooManyWildcards() error {
	return Invalid(MemberEvent, "has reached the limit of %d subscriptions to * or to a family such as debtor.* that this subscriber can have with only a SubscriberID; name one event, remove another of these subscriptions, or add it as an administrator",
		l.Wildcards)
}

// TooManyHeaders returns the error for headers beyond the limit.
func (l *Limits) TooManyHeaders() error {
	return Invalid(MemberHeaders, "would exceed %d bytes for all subscriptions of this subscriber, the maximum that can be stored with only a SubscriberID; shorten or remove some, or change them as an administrator",
		l.HeaderBytes)
}

// IsWildcard reports whether a pattern matches several events.
func IsWildcard(pattern string) bool { return strings.HasSuffix(pattern, "*") }

// Invalid returns the error for an invalid member of a subscription or event.
func Invalid(member, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return &fault.Error{
		Kind:    fault.Invalid,
		Message: member + " " + text,
		Fields:  []fault.Field{{Name: member, Message: text}},
	}
}

// CheckURL returns an error if a subscription may not have the URL. admin reports
// whether an administrator sets it: administrators may use private networks.
func (r Rules) CheckURL(text string, admin bool) error {
	u, err := url.Parse(text)
	isAbsolute := err == nil && u.Host != "" && u.Hostname() != "" && u.Opaque == ""
	switch {
	case len(text) > maxURL:
		return Invalid(MemberURL, "must be at most %d characters long", maxURL)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, isInvalidInURL):
		return Invalid(MemberURL, "contains a character that is invalid in a URL; escape it")
	case !isAbsolute:
		return Invalid(MemberURL, "must be an absolute URL such as https://example.com/hook")
	case u.Scheme != "http" && u.Scheme != "https":
		return Invalid(MemberURL, "must begin with http:// or https://")
	case u.User != nil:
		return Invalid(MemberURL, "must not contain a user name or password; use Headers")
	case u.Fragment != "":
		return Invalid(MemberURL, "must not contain a fragment (#...)")
	case !validPort(u):
		return Invalid(MemberURL, "must have a port from 1 to 65535")
	case IsTestTarget(r.TestTarget, u):
		return nil
	}
	if err := r.Guard.CheckURL(u, admin); err != nil {
		return Invalid(MemberURL, "%s", strings.TrimPrefix(err.Error(), ErrForbidden.Error()+": "))
	}
	return nil
}

func isInvalidInURL(c rune) bool { return c <= ' ' || c == 0x7f || c == '\\' }

func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

// defaultPorts are the ports of schemes, as a URL may have them.
var defaultPorts = map[string]string{"http": ":80", "https": ":443"}

// origin returns the scheme, host and port of a URL.
func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), defaultPorts[u.Scheme])
}

// SameOrigin reports whether two URLs have the same scheme, host and port.
func SameOrigin(a, b string) bool { return a == b || origin(a) == origin(b) }

// IsTestTarget reports whether u is the URL of the service's own test target.
func IsTestTarget(target, u *url.URL) bool {
	if target == nil || u.Host != target.Host || u.Scheme != target.Scheme {
		return false
	}
	return strings.EqualFold(strings.TrimSuffix(u.Path, "/"), target.Path)
}

// SubscribableEvents returns the published events and the service's own.
func (r Rules) SubscribableEvents() []record.Event {
	return slices.Concat(r.Events, record.ServiceEvents())
}

// Pattern returns an event pattern of a subscription in canonical letter case.
func (r Rules) Pattern(text string) (string, error) {
	pattern, ok := record.EventPattern(r.SubscribableEvents(), text)
	if !ok {
		return "", Invalid(MemberEvent, "is not a published event: GET /Webhooks/Events lists them; a family such as debtor.* and * are allowed too")
	}
	return pattern, nil
}

// Event returns the name of an event that clients can publish in canonical letter case.
func (r Rules) Event(text string) (string, error) {
	name, ok := canonicalEvent(r.Events, text)
	if ok {
		return name, nil
	}
	name, isOfService := canonicalEvent(record.ServiceEvents(), text)
	if isOfService {
		return "", Invalid(MemberEvent, "is %s, which only the service publishes: send a test message to a subscription instead", name)
	}
	return "", Invalid(MemberEvent, notPublished)
}

// TestableEvent returns the name of a published event, or of one of the service's own, in canonical
// letter case.
func (r Rules) TestableEvent(text string) (string, error) {
	name, ok := canonicalEvent(r.SubscribableEvents(), text)
	if !ok {
		return "", Invalid(MemberEvent, notPublished)
	}
	return name, nil
}

const notPublished = "is not a published event: GET /Webhooks/Events lists them"

// canonicalEvent returns the name of the event that a client has written in any letter case.
func canonicalEvent(events []record.Event, text string) (name string, ok bool) {
	text = strings.TrimSpace(text)
	for _, e := range events {
		if strings.EqualFold(e.Name, text) {
			return e.Name, true
		}
	}
	return "", false
}

// reservedHeaders are set by the connection or the service itself. The hop-by-hop
// headers are from RFC 9110, section 7.6.1.
var reservedHeaders = map[string]bool{
	"connection":          true,
	"keep-alive":          true,
	"proxy-connection":    true,
	"proxy-authenticate":  true,
	"proxy-authorization": true,
	"te":                  true,
	"trailer":             true,
	"transfer-encoding":   true,
	"upgrade":             true,

	"host":             true,
	"content-length":   true,
	"content-encoding": true,
	"expect":           true,
}

// CheckHeaders returns an error if messages may not be sent with the headers.
func CheckHeaders(headers []Header) error {
	if len(headers) > maxHeaders {
		return Invalid(MemberHeaders, "must be at most %d headers", maxHeaders)
	}
	for i, h := range headers {
		if err := checkHeader(h); err != nil {
			return Invalid(MemberHeaders, "number %d: %s", i+1, err)
		}
	}
	return nil
}

// isControl reports whether the value of a header must not contain a character.
func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// checkHeader returns an error that does not repeat the header: its value may be a
// secret.
func checkHeader(h Header) error {
	name := strings.ToLower(h.Name)
	hasValidName := h.Name != "" && !strings.ContainsFunc(h.Name, func(c rune) bool { return !isToken(c) })
	switch {
	case !hasValidName || len(h.Name) > maxHeaderName:
		return errors.New("its name must be 1 to 256 letters, digits and the characters !#$%&'*+-.^_`|~")
	case reservedHeaders[name] || strings.HasPrefix(name, "webhook-"):
		return errors.New("its name is reserved for the service")
	case len(h.Value) > maxHeaderValue:
		return fmt.Errorf("its value must be at most %d bytes long", maxHeaderValue)
	case strings.ContainsFunc(h.Value, isControl) || !utf8.ValidString(h.Value):
		return errors.New("its value must not contain line breaks or other control characters")
	case strings.TrimSpace(h.Value) != h.Value:
		return errors.New("its value must not begin or end with spaces")
	case h.Value == MaskedValue:
		return errors.New("give the value, " + MaskedValue + " is its mask")
	}
	return nil
}

// isToken reports whether the name of a header may contain a character.
func isToken(c rune) bool {
	isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	isDigit := '0' <= c && c <= '9'
	return isLetter || isDigit || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// FormatCloudEvents is the format of a subscription that adds the headers of CloudEvents to messages.
const FormatCloudEvents = wire.FormatCloudEvents

// ParseFormat parses the format of messages. An empty text is the default.
func ParseFormat(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if !strings.EqualFold(text, FormatCloudEvents) {
		return "", errors.New("must be " + FormatCloudEvents + ", or empty for messages without its headers")
	}
	return FormatCloudEvents, nil
}

// MaxRate is the highest limit of attempts in a minute.
const MaxRate = 600_000

// ParseRate parses a limit of attempts in a minute. An empty text and 0 are no limit.
func ParseRate(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > MaxRate {
		return 0, fmt.Errorf("must be a whole number of attempts a minute, up to %d; 0 for the default of the settings", MaxRate)
	}
	return n, nil
}

// FormatSchedule returns the form of a schedule that ParseSchedule reads; empty for none.
func FormatSchedule(waits []time.Duration) string {
	return strings.Join(record.Texts(waits, time.Duration.String), ",")
}

// ParseSchedule parses a comma-separated list of delays such as "5s, 30s, 2m".
func ParseSchedule(text string) ([]time.Duration, error) {
	var waits []time.Duration
	for part := range strings.SplitSeq(text, ",") {
		wait, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || wait < time.Second || wait > maxWait {
			return nil, fmt.Errorf("must be delays from 1s to %.0fh, such as 5s, 30s, 2m", maxWait.Hours())
		}
		waits = append(waits, wait)
	}
	if len(waits) > maxRetries {
		return nil, fmt.Errorf("must be at most %d delays", maxRetries)
	}
	return waits, nil
}
