package config

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// WebOrigins is a list of web origins, in the form of the Origin header.
type WebOrigins []string

// UnmarshalText parses origins such as https://shop.example.
func (o *WebOrigins) UnmarshalText(text []byte) error {
	return readList((*[]string)(o), text, parseOrigin)
}

// String returns the form that UnmarshalText parses.
func (o WebOrigins) String() string { return joined(o) }

// parseOrigin parses scheme, host and port. Wildcards are not supported: pages of a
// listed origin act with the permissions of the user who opens them.
func parseOrigin(text string) (string, error) {
	invalid := fmt.Errorf("%q is not an origin such as https://shop.example or http://localhost:3000", text)
	u, err := url.Parse(text)
	if err != nil {
		return "", invalid
	}
	if !isHTTP(u) || u.Hostname() == "" || strings.Contains(u.Host, "*") {
		return "", invalid
	}
	hasQuery := u.RawQuery != "" || u.Fragment != ""
	if u.User != nil || strings.Trim(u.Path, "/") != "" || hasQuery {
		return "", invalid
	}
	host := strings.ToLower(u.Host)
	if u.Port() == standardPorts[u.Scheme] { // browsers leave it out
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	return u.Scheme + "://" + host, nil
}

var standardPorts = map[string]string{"http": "80", "https": "443"}

// HostNames is a list of host names, in lower case and without ports.
type HostNames []string

// UnmarshalText parses names such as erp.example.
func (h *HostNames) UnmarshalText(text []byte) error {
	return readList((*[]string)(h), text, parseHostName)
}

// String returns the form that UnmarshalText parses.
func (h HostNames) String() string { return joined(h) }

// parseHostName parses a name, which may end with the dot of the root of all names.
func parseHostName(text string) (string, error) {
	name := strings.TrimSuffix(text, ".")
	hasEmptyLabel := slices.Contains(strings.Split(name, "."), "")
	if hasEmptyLabel || strings.ContainsAny(name, ":/*@ ") {
		return "", fmt.Errorf("%q is not a host name such as erp.example, without scheme and port", text)
	}
	return strings.ToLower(name), nil
}

// Rate is a rate limit: a whole number of requests per second, minute or hour. The zero value
// means no limit.
type Rate struct {
	PerSecond float64
	Burst     int // maximum number of simultaneous requests
}

type rateUnit struct {
	name    string
	seconds float64
}

var (
	perSecond = rateUnit{name: "s", seconds: 1}
	perMinute = rateUnit{name: "m", seconds: 60}
	perHour   = rateUnit{name: "h", seconds: 3600}
)

var rateUnits = []rateUnit{perSecond, perMinute, perHour}

// String formats the rate per second if that is a whole number, else per minute or hour.
// UnmarshalText parses the form.
func (r Rate) String() string {
	if r.PerSecond == 0 {
		return "0"
	}
	for _, unit := range rateUnits {
		n := math.Round(r.PerSecond * unit.seconds)
		isExact := n/unit.seconds == r.PerSecond
		if isExact && n >= 1 && n <= maxPerUnit {
			return r.in(unit, n)
		}
	}

	// This rate has no text: return that of a close one, by the longest unit in which UnmarshalText
	// takes the number.
	for _, unit := range slices.Backward(rateUnits) {
		n := math.Round(r.PerSecond * unit.seconds)
		if n <= maxPerUnit {
			return r.in(unit, max(n, 1))
		}
	}
	return r.in(perSecond, maxPerUnit)
}

// in formats a rate of n requests per unit.
func (r Rate) in(unit rateUnit, n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64) + "/" + unit.name
	if r.Burst != int(n) {
		text += "+" + strconv.Itoa(r.Burst)
	}
	return text
}

// maxPerUnit limits rates and bursts to numbers that are exact as float64.
const maxPerUnit = 1_000_000

// UnmarshalText parses a number of requests per second, minute or hour, with an
// optional burst after +, as in 20/s+100. The default burst is the number.
func (r *Rate) UnmarshalText(text []byte) error {
	parsed, ok := parseRate(strings.ReplaceAll(string(text), " ", ""))
	if !ok {
		return fmt.Errorf("%q is not a rate such as 100/s, 600/m or 20/s+100", text)
	}
	*r = parsed
	return nil
}

// parseRate parses a rate without spaces.
func parseRate(text string) (rate Rate, ok bool) {
	perUnit, burstText, hasBurst := strings.Cut(text, "+")
	count, unitName, hasUnit := strings.Cut(perUnit, "/")
	unit := perSecond
	if hasUnit {
		i := slices.IndexFunc(rateUnits, func(u rateUnit) bool { return u.name == unitName })
		if i < 0 {
			return Rate{}, false
		}
		unit = rateUnits[i]
	}

	n, err := strconv.ParseUint(count, 10, 32)
	if err != nil || n > maxPerUnit {
		return Rate{}, false
	}
	burst := int(n)
	if hasBurst {
		burst, err = strconv.Atoi(burstText)
		if err != nil || burst < 1 || burst > maxPerUnit {
			return Rate{}, false
		}
	}
	if n == 0 {
		return Rate{}, true // with any burst: no limit
	}
	return Rate{PerSecond: float64(n) / unit.seconds, Burst: burst}, true
}
