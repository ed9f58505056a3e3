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

	"github.com/bizhook/whd/daemon/webhook"
)

// kind is what is to be known of a Go type of settings, beside how its texts are read.
type kind struct {
	name     string       // in one or two words, for people
	argument string       // what help calls a value; empty for a switch
	toml     reflect.Kind // what the TOML decoder makes of a value that is no text
	example  string       // a value in TOML
}

const exampleText = "a text in quotes"

// kinds are the types that settings may have.
var kinds = map[reflect.Type]kind{
	reflect.TypeFor[string]():         {"text", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[Secret]():         {"secret", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[DSN]():            {"store", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[int]():            {"number", "N", reflect.Int64, "a number such as 10"},
	reflect.TypeFor[bool]():           {"true or false", "", reflect.Bool, "true or false"},
	reflect.TypeFor[time.Duration]():  {"duration", "TIME", reflect.String, `a duration in quotes such as "30s"`},
	reflect.TypeFor[*time.Location](): {"time zone", "ZONE", reflect.String, exampleText},
	reflect.TypeFor[Size]():           {"size", "SIZE", reflect.Int64, `a size such as 65536 or "64KiB"`},
	reflect.TypeFor[Rate]():           {"rate", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[Networks]():       {"networks", "CIDR,...", reflect.Slice, `a list such as ["10.0.0.0/8"]`},
	reflect.TypeFor[WebOrigins]():     {"origins", "TEXT", reflect.Slice, `a list such as ["https://shop.example"]`},
	reflect.TypeFor[HostNames]():      {"host names", "TEXT", reflect.Slice, `a list such as ["erp.example"]`},
	reflect.TypeFor[EventNames]():     {"names", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[Waits]():          {"durations", "TEXT", reflect.String, exampleText},
	reflect.TypeFor[Sources]():        {"name=value pairs", "NAME=VALUE,...", reflect.Map, `a table of texts such as { SO_Totals = "v_SO_Totals" }`},
}

// set reads a text into the place of a setting. The error says what would be
// right, and repeats the text.
func set(into any, text string) error {
	switch p := into.(type) {
	case encoding.TextUnmarshaler:
		return p.UnmarshalText([]byte(text))
	case *int:
		return assign(p, text, parseInt)
	case *bool:
		return assign(p, text, parseBool)
	case *time.Duration:
		return assign(p, text, ParseDuration)
	case **time.Location:
		return assign(p, text, parseZone)
	}
	reflect.ValueOf(into).Elem().SetString(text)
	return nil
}

func assign[T any](to *T, text string, parse func(string) (T, error)) error {
	value, err := parse(text)
	if err == nil {
		*to = value
	}
	return err
}

// textOf is a value as set reads it. Secrets are stars.
func textOf(value any) string {
	if d, is := value.(time.Duration); is {
		return formatDuration(d)
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

// ParseDuration reads what time.ParseDuration reads, with whole days before
// it: "30s", "8h", "14d", "1d12h".
func ParseDuration(text string) (time.Duration, error) {
	days, rest, hasDays := strings.Cut(text, "d")
	switch {
	case !hasDays:
		days, rest = "0", text
	case rest == "":
		rest = "0"
	}
	n, err := strconv.ParseUint(days, 10, 16)
	whole := time.Duration(n) * 24 * time.Hour
	d, errRest := time.ParseDuration(rest)
	if err != nil || errRest != nil || d < 0 || d > math.MaxInt64-whole {
		return 0, fmt.Errorf("%q is not a duration such as 30s, 8h or 14d", text)
	}
	return whole + d, nil
}

// formatDuration leaves out the zero parts that Duration.String ends with.
func formatDuration(d time.Duration) string {
	text := d.String()
	for _, end := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, end) {
			text = text[:len(text)-len("0s")]
		}
	}
	return text
}

// Size is a number of bytes.
type Size int64

// sizeUnits begin with the longest suffix, so that "KiB" is not read as "B".
var sizeUnits = []struct {
	suffix string
	bytes  Size
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1},
}

// UnmarshalText reads "1MiB", "64 KiB", "1MB" and plain numbers of bytes.
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

// String uses the largest unit of 1024 that loses nothing.
func (s Size) String() string {
	for _, unit := range sizeUnits[:3] {
		if s != 0 && s%unit.bytes == 0 {
			return strconv.FormatInt(int64(s/unit.bytes), 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// splitList splits at commas and leaves out empty parts.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// readList reads a list with commas between its items.
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

// Networks are ranges of addresses.
type Networks []netip.Prefix

// UnmarshalText reads networks such as 10.0.0.0/8, and addresses.
func (n *Networks) UnmarshalText(text []byte) error {
	return readList((*[]netip.Prefix)(n), text, parseNetwork)
}

// String is what UnmarshalText reads.
func (n Networks) String() string { return joined(n) }

// parseNetwork takes an address without a length as the network of that address only.
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

// Waits are the times between attempts.
type Waits []time.Duration

// UnmarshalText reads waits such as "5s, 30s, 2m".
func (w *Waits) UnmarshalText(text []byte) error {
	waits, err := webhook.ParseSchedule(string(text))
	if err != nil {
		return fmt.Errorf("%q %w", text, err)
	}
	*w = waits
	return nil
}

// String is what UnmarshalText reads.
func (w Waits) String() string { return joined(w) }

// Sources are the tables or views of record kinds, where they are not named as these.
type Sources map[string]string

// UnmarshalText reads pairs such as SO_Totals=v_SO_Totals.
func (s *Sources) UnmarshalText(text []byte) error {
	pairs := make(Sources)
	for _, item := range splitList(string(text)) {
		name, value, _ := strings.Cut(item, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == "" || value == "" {
			return fmt.Errorf("%q is not a pair such as SO_Totals=v_SO_Totals", item)
		}
		if _, twice := pairs[name]; twice {
			return fmt.Errorf("%q stands twice", name)
		}
		pairs[name] = value
	}
	*s = pairs
	return nil
}

// String is what UnmarshalText reads.
func (s Sources) String() string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		pairs = append(pairs, name+"="+s[name])
	}
	return strings.Join(pairs, ",")
}
