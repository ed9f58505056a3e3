package config

import (
	"encoding"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/daemon/webhook"
)

// kind describes a Go type of settings.
type kind struct {
	name     string       // shown in GET /Settings
	argument string       // placeholder of the value in help; empty for a boolean flag
	toml     reflect.Kind // type that the TOML decoder returns for a value that is not a string
	example  string       // expected TOML value, for error messages
}

const exampleText = "a quoted string"

// settingKinds are the types of settings.
var settingKinds = map[reflect.Type]kind{
	reflect.TypeFor[string]():         {"text", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[Secret]():         {"secret", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[DSN]():            {"store", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[ProxyURL]():       {"proxy", "URL", reflect.String, exampleText},
	reflect.TypeFor[int]():            {"number", "N", reflect.Int64, "a number such as 10"},
	reflect.TypeFor[bool]():           {"true or false", "", reflect.Bool, "true or false"},
	reflect.TypeFor[time.Duration]():  {"duration", "DURATION", reflect.String, `a duration in quotes such as "30s"`},
	reflect.TypeFor[*time.Location](): {"time zone", "ZONE", reflect.String, exampleText},
	reflect.TypeFor[Size]():           {"size", "SIZE", reflect.Int64, `a size such as 65536 or "64KiB"`},
	reflect.TypeFor[Share]():          {"share", "N", reflect.Float64, "a number such as 0.1"},
	reflect.TypeFor[Rate]():           {"rate", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[Networks]():       {"networks", "CIDR,...", reflect.Slice, `a list such as ["10.0.0.0/8"]`},
	reflect.TypeFor[WebOrigins]():     {"origins", "TEXT", reflect.Slice, `a list such as ["https://shop.example"]`},
	reflect.TypeFor[HostNames]():      {"host names", "TEXT", reflect.Slice, `a list such as ["erp.example"]`},
	reflect.TypeFor[Hosts]():          {"networks and names", "CIDR|NAME,...", reflect.Slice, `a list such as ["10.0.0.0/8", "corp.example"]`},
	reflect.TypeFor[EventNames]():     {"names", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[Schedule]():       {"durations", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[Paths]():          {"paths", "PATH,...", reflect.Slice, `a list such as ["kinds", "more/kinds.toml"]`},
	reflect.TypeFor[Sources]():        {"name=value pairs", "NAME=VALUE,...", reflect.Map, `a table of strings such as { SO_Totals = "v_SO_Totals" }`},
}

// setValue parses a text into the field of a setting. The error quotes the text and
// describes valid values.
func setValue(into any, text string) error {
	switch p := into.(type) {
	case encoding.TextUnmarshaler:
		return p.UnmarshalText([]byte(text))
	case *int:
		return parseInto(p, text, parseInt)
	case *bool:
		return parseInto(p, text, parseBool)
	case *time.Duration:
		return parseInto(p, text, ParseDuration)
	case **time.Location:
		return parseInto(p, text, parseZone)
	}
	reflect.ValueOf(into).Elem().SetString(text)
	return nil
}

func parseInto[T any](to *T, text string, parse func(string) (T, error)) error {
	value, err := parse(text)
	if err == nil {
		*to = value
	}
	return err
}

// textOf formats a value in the form that setValue parses. Secrets are masked.
func textOf(value any) string {
	switch v := value.(type) {
	case time.Duration:
		return display.Duration(v)
	case *time.Location:
		if v == time.Local { // its own name may be that of the variable TZ
			return "Local"
		}
	}
	return fmt.Sprint(value)
}

func parseInt(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return int(n), nil
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

func parseZone(text string) (*time.Location, error) {
	zone, err := time.LoadLocation(text)
	if err != nil || text == "" {
		return nil, fmt.Errorf("%q is not a time zone such as Local, UTC or Australia/Perth", text)
	}
	return zone, nil
}

// ParseDuration is time.ParseDuration with an optional number of days in front, as in
// "30s", "8h", "14d" or "1d12h". Negative durations are errors.
func ParseDuration(text string) (time.Duration, error) {
	days, remainder, hasDays := strings.Cut(text, "d")
	if !hasDays {
		days = "0"
		remainder = text
	} else if remainder == "" {
		remainder = "0"
	}
	n, err := strconv.ParseUint(days, 10, 16)
	whole := time.Duration(n) * 24 * time.Hour
	d, remainderErr := time.ParseDuration(remainder)
	isValid := err == nil && remainderErr == nil
	if !isValid || d < 0 || d > math.MaxInt64-whole {
		return 0, fmt.Errorf("%q is not a duration such as 30s, 8h or 14d", text)
	}
	return whole + d, nil
}

// Share is a part of a whole, above 0 and at most 1.
type Share float64

// UnmarshalText parses a number such as 0.1.
func (s *Share) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(n > 0 && n <= 1) {
		return fmt.Errorf("%q is not a share such as 0.1, above 0 and at most 1", text)
	}
	*s = Share(n)
	return nil
}

// Size is a number of bytes.
type Size int64

// sizeUnits lists longer suffixes first, so that "KiB" is not parsed as "B".
var sizeUnits = []struct {
	suffix string
	bytes  Size
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1},
}

// UnmarshalText parses "1MiB", "64 KiB", "1MB" and plain numbers of bytes.
func (s *Size) UnmarshalText(text []byte) error {
	for _, unit := range sizeUnits {
		head := len(text) - len(unit.suffix)
		if head < 0 || !strings.EqualFold(string(text[head:]), unit.suffix) {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(string(text[:head])), 10, 63)
		if err != nil || Size(n) > math.MaxInt64/unit.bytes {
			break
		}
		*s = Size(n) * unit.bytes
		return nil
	}
	return fmt.Errorf("%q is not a size such as 65536, 64KiB or 1MiB", text)
}

// String uses the largest binary unit that represents the size exactly.
func (s Size) String() string {
	for _, unit := range sizeUnits[:3] {
		if s != 0 && s%unit.bytes == 0 {
			return strconv.FormatInt(int64(s/unit.bytes), 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// splitList splits at commas, trims spaces and drops empty items.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item != "" {
			items = append(items, item)
		}
	}
	return items
}

// readList parses a comma-separated list.
func readList[T any](into *[]T, text []byte, parse func(string) (T, error)) error {
	var list []T
	for _, item := range splitList(string(text)) {
		value, err := parse(item)
		if err != nil {
			return err
		}
		list = append(list, value)
	}
	*into = list
	return nil
}

func joined[T any](list []T) string {
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = textOf(item)
	}
	return strings.Join(texts, ",")
}

// Networks is a list of IP networks.
type Networks []netip.Prefix

// UnmarshalText parses networks such as 10.0.0.0/8, and addresses.
func (n *Networks) UnmarshalText(text []byte) error {
	return readList((*[]netip.Prefix)(n), text, parseNetwork)
}

// String returns the form that UnmarshalText parses.
func (n Networks) String() string { return joined(n) }

// parseNetwork parses a network. An address is a network of that address only.
func parseNetwork(text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	if !strings.Contains(text, "/") {
		var address netip.Addr
		address, err = netip.ParseAddr(text)
		network = netip.PrefixFrom(address, address.BitLen())
	}
	if err != nil {
		return network, fmt.Errorf("%q is not a network such as 10.0.0.0/8 or an address such as 10.1.2.3", text)
	}
	return network.Masked(), nil
}

// Schedule lists the delays between attempts.
type Schedule []time.Duration

// UnmarshalText parses delays such as "5s, 30s, 2m".
func (w *Schedule) UnmarshalText(text []byte) error {
	delays, err := webhook.ParseSchedule(string(text))
	if err != nil {
		return fmt.Errorf("%q %w", text, err)
	}
	*w = delays
	return nil
}

// String returns the form that UnmarshalText parses.
func (w Schedule) String() string { return joined(w) }

// Paths is a list of files and directories.
type Paths []string

// UnmarshalText parses paths with commas between them.
func (p *Paths) UnmarshalText(text []byte) error {
	*p = splitList(string(text))
	return nil
}

// String returns the form that UnmarshalText parses.
func (p Paths) String() string { return joined(p) }

// Sources maps record kinds to their tables or views, if the names differ.
type Sources map[string]string

// UnmarshalText parses pairs such as SO_Totals=v_SO_Totals.
func (s *Sources) UnmarshalText(text []byte) error {
	pairs := make(Sources)
	for _, item := range splitList(string(text)) {
		name, value, _ := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		value = strings.TrimSpace(value)
		if name == "" || value == "" {
			return fmt.Errorf("%q is not a pair such as SO_Totals=v_SO_Totals", item)
		}
		if _, twice := pairs[name]; twice {
			return fmt.Errorf("duplicate name %q", name)
		}
		pairs[name] = value
	}
	*s = pairs
	return nil
}

// String returns the form that UnmarshalText parses.
func (s Sources) String() string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		pairs = append(pairs, name+"="+s[name])
	}
	return strings.Join(pairs, ",")
}
