package config

import (
	"fmt"
	"math"
	"net/url"
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
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") ||
		u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", invalid
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host, nil
}

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

var rateUnits = []struct {
	name    string
	seconds float64
}{{"s", 1}, {"m", 60}, {"h", 3600}}

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
	for _, u := range rateUnits {
		switch {
		case u.name != unit || err != nil || n > maxPerUnit || burst > maxPerUnit || hasBurst && burst < 1:
		case n == 0:
			*r = Rate{}
			return nil
		default:
			*r = Rate{PerSecond: float64(n) / u.seconds, Burst: burst}
			return nil
		}
	}
	return fmt.Errorf("%q is not a rate such as 100/s, 600/m or 20/s+100", text)
}
