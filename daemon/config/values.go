package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"
	"unicode"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/mssql"
)

// value reads and prints one kind of setting, over the place that holds it.
type value interface {
	kind() string          // in one or two words, for people
	set(text string) error // the error says what would be right, and repeats the text
	text() string          // what set would read back
}

// numeric is a value that setting.least and setting.most bound.
type numeric interface{ number() int64 }

// valueOf picks the reading by the Go type of a setting's place.
func valueOf(into any) value {
	switch p := into.(type) {
	case *string:
		return textValue{p}
	case *Secret:
		return secretValue{p}
	case *DSN:
		return dsnValue{p}
	case *int:
		return intValue{p}
	case *bool:
		return boolValue{p}
	case *time.Duration:
		return durationValue{p}
	case *Size:
		return sizeValue{p}
	case *[]netip.Prefix:
		return networksValue{p}
	case *WebOrigins:
		return originsValue{p}
	case *Rate:
		return rateValue{p}
	case *HostNames:
		return hostsValue{p}
	case *EventNames:
		return eventsValue{p}
	case *Waits:
		return waitsValue{p}
	case *map[string]string:
		return mapValue{p}
	case **time.Location:
		return zoneValue{p}
	}
	panic(fmt.Sprintf("settings table: no reading for %T", into)) // caught by the table's test
}

type textValue struct{ p *string }

func (v textValue) kind() string          { return "text" }
func (v textValue) set(text string) error { *v.p = text; return nil }
func (v textValue) text() string          { return *v.p }

type secretValue struct{ p *Secret }

func (v secretValue) kind() string          { return "secret" }
func (v secretValue) set(text string) error { *v.p = Secret(text); return nil }
func (v secretValue) text() string          { return v.p.String() }

type dsnValue struct{ p *DSN }

func (v dsnValue) kind() string          { return "store" }
func (v dsnValue) set(text string) error { *v.p = DSN(text); return nil }
func (v dsnValue) text() string          { return v.p.String() }

type intValue struct{ p *int }

func (v intValue) kind() string  { return "number" }
func (v intValue) text() string  { return strconv.Itoa(*v.p) }
func (v intValue) number() int64 { return int64(*v.p) }
func (v intValue) set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return fmt.Errorf("%q is not a whole number", text)
	}
	*v.p = int(n)
	return nil
}

type boolValue struct{ p *bool }

func (v boolValue) kind() string { return "true or false" }
func (v boolValue) text() string { return strconv.FormatBool(*v.p) }
func (v boolValue) set(text string) error {
	switch strings.ToLower(text) {
	case "true", "1":
		*v.p = true
	case "false", "0":
		*v.p = false
	default:
		return fmt.Errorf("%q is neither true nor false", text)
	}
	return nil
}

type durationValue struct{ p *time.Duration }

func (v durationValue) kind() string  { return "duration" }
func (v durationValue) text() string  { return formatDuration(*v.p) }
func (v durationValue) number() int64 { return int64(*v.p) }
func (v durationValue) set(text string) error {
	d, err := ParseDuration(text)
	if err != nil {
		return err
	}
	*v.p = d
	return nil
}

// ParseDuration reads what time.ParseDuration reads, with whole days before
// it: "30s", "8h", "14d", "1d12h".
func ParseDuration(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is not a duration such as 30s, 8h or 14d", text)
	days, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, wrong
	}
	var d time.Duration
	if rest != "" || !hasDays {
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, wrong
		}
	}
	if d < 0 || d > math.MaxInt64-time.Duration(n)*24*time.Hour {
		return 0, wrong
	}
	return d + time.Duration(n)*24*time.Hour, nil
}

// formatDuration leaves out the zero parts that Duration.String ends with.
func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

type sizeValue struct{ p *Size }

func (v sizeValue) kind() string  { return "size" }
func (v sizeValue) text() string  { return formatSize(*v.p) }
func (v sizeValue) number() int64 { return int64(*v.p) }
func (v sizeValue) set(text string) error {
	size, err := parseSize(text)
	if err != nil {
		return err
	}
	*v.p = size
	return nil
}

// sizeUnits stand with the longest suffix first, so that "KiB" is not read as "B".
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1},
}

// parseSize reads "1MiB", "64 KiB", "1MB" and plain numbers of bytes.
func parseSize(text string) (Size, error) {
	wrong := fmt.Errorf("%q is not a size such as 65536, 64KiB or 1MiB", text)
	for _, unit := range sizeUnits {
		head := len(text) - len(unit.suffix)
		if head < 0 || !strings.EqualFold(text[head:], unit.suffix) {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(text[:head]), 10, 63)
		if err != nil || int64(n) > math.MaxInt64/unit.bytes {
			return 0, wrong
		}
		return Size(int64(n) * unit.bytes), nil
	}
	return 0, wrong
}

// formatSize uses the largest unit of 1024 that loses nothing.
func formatSize(size Size) string {
	for _, unit := range sizeUnits[:3] {
		if size != 0 && int64(size)%unit.bytes == 0 {
			return strconv.FormatInt(int64(size)/unit.bytes, 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(size), 10)
}

type networksValue struct{ p *[]netip.Prefix }

func (v networksValue) kind() string { return "networks" }
func (v networksValue) text() string {
	texts := make([]string, len(*v.p))
	for i, network := range *v.p {
		texts[i] = network.String()
	}
	return strings.Join(texts, ",")
}

func (v networksValue) set(text string) error {
	var networks []netip.Prefix
	for _, item := range splitList(text) {
		network, err := parseNetwork(item)
		if err != nil {
			return fmt.Errorf("%q is not a network such as 10.0.0.0/8 or an address such as 10.1.2.3", item)
		}
		networks = append(networks, network.Masked())
	}
	*v.p = networks
	return nil
}

// parseNetwork takes a lone address as the network of that address only.
func parseNetwork(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		return netip.ParsePrefix(text)
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return address.Prefix(address.BitLen())
}

type mapValue struct{ p *map[string]string }

func (v mapValue) kind() string { return "name=value pairs" }
func (v mapValue) text() string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(*v.p)) {
		pairs = append(pairs, name+"="+(*v.p)[name])
	}
	return strings.Join(pairs, ",")
}

func (v mapValue) set(text string) error {
	pairs := make(map[string]string)
	for _, item := range splitList(text) {
		name, value, paired := strings.Cut(item, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !paired || name == "" || value == "" {
			return fmt.Errorf("%q is not a pair such as SO_Totals=v_SO_Totals", item)
		}
		if _, twice := pairs[name]; twice {
			return fmt.Errorf("%q stands twice", name)
		}
		pairs[name] = value
	}
	*v.p = pairs
	return nil
}

type zoneValue struct{ p **time.Location }

func (v zoneValue) kind() string { return "time zone" }
func (v zoneValue) text() string { return (*v.p).String() }
func (v zoneValue) set(text string) error {
	zone, err := time.LoadLocation(text)
	if err != nil || text == "" {
		return fmt.Errorf("%q is not a time zone such as Local, UTC or Australia/Perth", text)
	}
	*v.p = zone
	return nil
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

// checkAddress accepts host:port with a numeric port.
func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%q is not an address and port such as 127.0.0.1:5050 or :5050", text)
	}
	return nil
}

func checkAddressOrNone(text string) error {
	if text == "" {
		return nil
	}
	return checkAddress(text)
}

func checkBasePath(text string) error {
	if text == "" {
		return nil
	}
	if !strings.HasPrefix(text, "/") || strings.HasSuffix(text, "/") || strings.ContainsAny(text, "?#% ") {
		return fmt.Errorf("%q is not a path such as /erp, with a slash before and none after", text)
	}
	return nil
}

// checkStore repeats nothing of the text: it may be a connection string of
// another form, with a password.
func checkStore(text string) error {
	if text == string(Embedded) {
		return nil
	}
	if !strings.HasPrefix(text, "sqlserver://") {
		return errors.New("it must be sqlite, or a connection string such as sqlserver://user:password@host?database=name")
	}
	return mssql.CheckDSN(text)
}

func checkDSNOrNone(text string) error {
	if text == "" {
		return nil
	}
	return mssql.CheckDSN(text)
}

func checkVersionSource(text string) error {
	if text == "" {
		return nil
	}
	return erp.CheckVersionSource(text)
}

// maxSchema is the largest length of a name in SQL Server.
const maxSchema = 128

func checkSchema(text string) error {
	if text == "" || utf8.RuneCountInString(text) > maxSchema || strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%q is not the name of a schema such as dbo", text)
	}
	return nil
}

// checkLoopback accepts an address that only this host reaches.
func checkLoopback(text string) error {
	if text == "" {
		return nil
	}
	if err := checkAddress(text); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(text)
	if at, err := netip.ParseAddr(host); err == nil && at.Unmap().IsLoopback() || strings.EqualFold(host, "localhost") {
		return nil
	}
	return fmt.Errorf("%q can be reached from elsewhere; it must be an address of this host only, such as 127.0.0.1:5051", text)
}

// checkCollector accepts the base address of a collector. What it takes to be let
// in there stands in the standard variables.
func checkCollector(text string) error { return checkHostURL(text) }
