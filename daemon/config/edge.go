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

func parseHostName(text string) (string, error) {
	if strings.ContainsAny(text, ":/*@ ") {
		return "", fmt.Errorf("%q is not a host name such as erp.example, without scheme and port", text)
	}
	return strings.ToLower(strings.TrimSuffix(text, ".")), nil
}

// Rate is a rate limit. The zero value means no limit.
type Rate struct {
	PerSecond float64
	Burst     int // maximum number of simultaneous requests
}

type rateUnit struct {
	name    string
	seconds float64
}

var rateUnits = []rateUnit{{"s", 1}, {"m", 60}, {"h", 3600}}

// String formats the rate per second if that is a whole number, else per minute or
// hour.
func (r Rate) String() string {
	if r.PerSecond == 0 {
		return "0"
	}
	for _, unit := range rateUnits {
		n := math.Round(r.PerSecond * unit.seconds)
		if n < 1 || n/unit.seconds != r.PerSecond {
			continue
		}
		text := strconv.FormatFloat(n, 'f', -1, 64) + "/" + unit.name
		if r.Burst != int(n) {
			text += "+" + strconv.Itoa(r.Burst)
		}
		return text
	}
	return strconv.FormatFloat(r.PerSecond, 'g', -1, 64) + "/s+" + strconv.Itoa(r.Burst)
}

// maxPerUnit limits rates and bursts to numbers that are exact as float64.
const maxPerUnit = 1_000_000

// UnmarshalText parses a number of requests per second, minute or hour, with an
// optional burst after +, as in 20/s+100. The default burst is the number.
func (r *Rate) UnmarshalText(text []byte) error {
	perUnit, burstText, hasBurst := strings.Cut(strings.ReplaceAll(string(text), " ", ""), "+")
	count, unit, hasUnit := strings.Cut(perUnit, "/")
	n, err := strconv.ParseUint(count, 10, 32)
	burst := int(n)
	if hasBurst && err == nil {
		burst, err = strconv.Atoi(burstText)
	}
	if !hasUnit {
		unit = "s"
	}
	invalid := fmt.Errorf("%q is not a rate such as 100/s, 600/m or 20/s+100", text)
	i := slices.IndexFunc(rateUnits, func(u rateUnit) bool { return u.name == unit })
	if err != nil || i < 0 {
		return invalid
	}
	isTooLarge := n > maxPerUnit || burst > maxPerUnit
	isTooSmall := hasBurst && burst < 1
	if isTooLarge || isTooSmall {
		return invalid
	}
	*r = Rate{}
	if n > 0 {
		*r = Rate{PerSecond: float64(n) / rateUnits[i].seconds, Burst: burst}
	}
	return nil
}
