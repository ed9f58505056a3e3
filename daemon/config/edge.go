package config

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
)

// WebOrigins are where pages come from, as browsers write it.
type WebOrigins []string

type originsValue struct{ p *WebOrigins }

func (v originsValue) kind() string { return "origins" }
func (v originsValue) text() string { return strings.Join(*v.p, ",") }

func (v originsValue) set(text string) error {
	var origins WebOrigins
	for _, item := range splitList(text) {
		origin, err := parseOrigin(item)
		if err != nil {
			return err
		}
		origins = append(origins, origin)
	}
	*v.p = origins
	return nil
}

// parseOrigin reads scheme, host and port. There is no * for all origins: pages
// of a listed one act with the rights of whoever looks at them.
func parseOrigin(text string) (string, error) {
	wrong := fmt.Errorf("%q is not an origin such as https://shop.example or http://localhost:3000", text)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") ||
		u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", wrong
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host, nil
}

// HostNames are names of the service in Host headers, in small letters and
// without ports.
type HostNames []string

type hostsValue struct{ p *HostNames }

func (v hostsValue) kind() string { return "host names" }
func (v hostsValue) text() string { return strings.Join(*v.p, ",") }

func (v hostsValue) set(text string) error {
	var hosts HostNames
	for _, item := range splitList(text) {
		if strings.ContainsAny(item, ":/*@ ") {
			return fmt.Errorf("%q is not a host name such as erp.example, without scheme and port", item)
		}
		hosts = append(hosts, strings.ToLower(strings.TrimSuffix(item, ".")))
	}
	*v.p = hosts
	return nil
}

// isList reports whether a value is a list of texts, as TOML has them.
func isList(v value) bool {
	switch v.(type) {
	case networksValue, originsValue, hostsValue:
		return true
	}
	return false
}

// Rate bounds how often something may happen. None is no bound.
type Rate struct {
	PerSecond float64
	Burst     int // that may come at once
}

type rateValue struct{ p *Rate }

func (v rateValue) kind() string { return "rate" }

// text writes a rate per second where that is a whole number, else per minute
// or hour.
func (v rateValue) text() string {
	if v.p.PerSecond == 0 {
		return "0"
	}
	for _, unit := range rateUnits {
		n := math.Round(v.p.PerSecond * unit.seconds)
		if n < 1 || n/unit.seconds != v.p.PerSecond {
			continue
		}
		text := strconv.FormatFloat(n, 'f', -1, 64) + "/" + unit.name
		if v.p.Burst != int(n) {
			text += "+" + strconv.Itoa(v.p.Burst)
		}
		return text
	}
	return strconv.FormatFloat(v.p.PerSecond, 'g', -1, 64) + "/s+" + strconv.Itoa(v.p.Burst)
}

var rateUnits = []struct {
	name    string
	seconds float64
}{{"s", 1}, {"m", 60}, {"h", 3600}}

func (v rateValue) set(text string) error {
	r, ok := parseRate(text)
	if !ok {
		return fmt.Errorf("%q is not a rate such as 100/s, 600/m or 20/s+100", text)
	}
	*v.p = r
	return nil
}

// mostPerUnit keeps rates and bursts within what counts exactly.
const mostPerUnit = 1_000_000

// parseRate reads a number of requests for each second, minute or hour, of
// which as many, or the number behind +, may come at once.
func parseRate(text string) (r Rate, ok bool) {
	text, burst, hasBurst := strings.Cut(strings.ReplaceAll(text, " ", ""), "+")
	count, unit, hasUnit := strings.Cut(text, "/")
	n, err := strconv.ParseUint(count, 10, 32)
	if err != nil || n > mostPerUnit {
		return Rate{}, false
	}
	if !hasUnit {
		unit = "s"
	}
	r.Burst = int(n)
	if hasBurst {
		if r.Burst, err = strconv.Atoi(burst); err != nil || r.Burst < 1 || r.Burst > mostPerUnit {
			return Rate{}, false
		}
	}
	for _, u := range rateUnits {
		if u.name == unit {
			r.PerSecond = float64(n) / u.seconds
			ok = true
		}
	}
	if n == 0 {
		r = Rate{}
	}
	return r, ok
}
