package records

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
)

// shorthand is a flag for a condition that is often needed. Lists of the service's own
// records have it if their kind has one of the fields.
type shorthand struct {
	flag   string
	usage  string   // without one, that of the field
	fields []string // the first one that the kind has is compared
	parse  func(kind *record.Kind, field record.Field, text string, today time.Time) (client.Filter, error)
}

// shorthands is the table of these flags.
var shorthands = []shorthand{
	{"status", "", []string{"Status", "StatusCode", "IsEnabled"}, parseStatus},
	{"event", "only events that match `PATTERN`, such as salesorder.*", []string{"EventName"}, parseEvent},
	{
		"key",
		"only messages of events with this `KEY`",
		[]string{"Key"},
		func(_ *record.Kind, field record.Field, text string, _ time.Time) (client.Filter, error) {
			return client.Filter{
				Field:    field.Name,
				Operator: record.Equal,
				Values:   []string{text},
			}, nil
		},
	},
	{
		"endpoint",
		"only URLs or paths that contain `TEXT`",
		[]string{"URL", "PathInfo"},
		func(_ *record.Kind, field record.Field, text string, _ time.Time) (client.Filter, error) {
			return client.Filter{
				Field:    field.Name,
				Operator: record.Contains,
				Values:   []string{text},
			}, nil
		},
	},
	{"since", "at `TIME` or later: 2h, 3d, today, 13:00, 2026-07-01, 2026-07-01T10:00", timeFields, parseTime(record.GreaterThanOrEqualTo)},
	{"until", "before `TIME`", timeFields, parseTime(record.LessThan)},
}

var timeFields = []string{"AddedDateTime", "DateTime", "LastSavedDateTime"}

// statusUsages describes --status by field.
var statusUsages = map[string]string{
	"Status":     "only the statuses `A,B`: " + strings.Join(filter.StatusNames(), ", ") + " (given up)",
	"StatusCode": "only the HTTP status `CODE`, such as 404, or class, such as 5xx",
	"IsEnabled":  "`STATUS`  only the enabled or the disabled",
}

// field returns the field of a kind that a flag is for; false if there is none.
func (h shorthand) field(kind *record.Kind) (record.Field, bool) {
	for _, name := range h.fields {
		if i, ok := kind.Column(name); ok {
			return kind.Fields[i], true
		}
	}
	return record.Field{}, false
}

// ShorthandFlags returns the flags for frequent conditions on the service's own records.
func ShorthandFlags(kind *record.Kind) (flags []cli.Flag) {
	for _, h := range shorthands {
		if field, ok := h.field(kind); ok {
			flags = append(flags, &cli.StringFlag{
				Name:  h.flag,
				Usage: cmp.Or(h.usage, statusUsages[field.Name]),
			})
		}
	}
	return flags
}

// readShorthands returns the conditions of the flags.
func readShorthands(c *cli.Context, kind *record.Kind, today time.Time) ([]client.Filter, error) {
	if kind.Database == record.RecordsDB {
		return nil, nil
	}
	var conditions []client.Filter
	for _, h := range shorthands {
		field, ok := h.field(kind)
		if !ok || !c.IsSet(h.flag) {
			continue
		}
		condition, err := h.parse(kind, field, c.String(h.flag), today)
		if err != nil {
			return nil, fmt.Errorf("--%s %w", h.flag, err)
		}
		conditions = append(conditions, condition)
	}
	return conditions, nil
}

func parseTime(operator record.Operator) func(*record.Kind, record.Field, string, time.Time) (client.Filter, error) {
	return func(_ *record.Kind, field record.Field, text string, today time.Time) (client.Filter, error) {
		at, err := filter.Time(text, today)
		return client.Filter{
			Field:    field.Name,
			Operator: operator,
			Values:   []string{at.UTC().Format(wire.DateLayout)},
		}, err
	}
}

// parseStatus parses the statuses of messages, a code or class of HTTP, or whether
// something is enabled.
func parseStatus(kind *record.Kind, field record.Field, text string, _ time.Time) (client.Filter, error) {
	condition := client.Filter{Field: field.Name}
	switch {
	case field.Type == record.Bool:
		i := slices.Index([]string{"disabled", "enabled"}, strings.ToLower(text))
		if i < 0 {
			return condition, fmt.Errorf("must be enabled or disabled, not %q", text)
		}
		condition.Values = []string{strconv.FormatBool(i == 1)}
	case filter.IsStatus(kind, field):
		condition.Operator = record.In
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' }) {
			n, err := filter.StatusNumber(strings.TrimSpace(word))
			if err != nil {
				return condition, err
			}
			condition.Values = append(condition.Values, strconv.Itoa(n))
		}
	default:
		class, isClass := strings.CutSuffix(strings.ToLower(text), "xx")
		n, err := strconv.Atoi(class)
		isNoClass := isClass && n > 9
		if err != nil || n < 1 || isNoClass {
			return condition, fmt.Errorf("must be an HTTP status such as 404 or 5xx, not %q", text)
		}
		condition.Values = []string{text}
		if isClass {
			condition.Operator = record.Between
			condition.Values = []string{class + "00", class + "99"}
		}
	}
	if condition.Operator == record.In && len(condition.Values) == 1 {
		condition.Operator = record.Equal
	}
	return condition, nil
}

// parseEvent parses a pattern of events.
func parseEvent(_ *record.Kind, field record.Field, text string, _ time.Time) (client.Filter, error) {
	condition := client.Filter{Field: field.Name, Values: []string{text}}
	start, starred := strings.CutSuffix(text, "*")
	if starred && !strings.Contains(start, "*") {
		condition.Operator = record.StartsWith
		condition.Values = []string{start}
	} else if strings.Contains(text, "*") {
		pattern := strings.NewReplacer("*", "%", "%", "[%]", "_", "[_]", "[", "[[]").Replace(text)
		condition.Operator = record.Like
		condition.Values = []string{pattern}
	}
	return condition, nil
}

// EventHint suggests events for an unknown one in --event.
func EventHint(c *cli.Context) string {
	known := record.Texts(record.Events(), func(e record.Event) string { return e.Name })
	if name := c.String("event"); name != "" && !strings.Contains(name, "*") && !slices.Contains(known, name) {
		return record.DidYouMean(record.Suggest(name, known))
	}
	return ""
}

// ReadFilters reads --where and --filter-json.
func ReadFilters(c *cli.Context, q *client.Query, today time.Time) error {
	reader := filter.Reader{Kind: q.Kind, Now: today}
	shorthands, err := readShorthands(c, q.Kind, today)
	if err != nil {
		return err
	}
	q.Where = append(q.Where, shorthands...)
	if err := readWhere(c, reader, q); err != nil {
		return fmt.Errorf("--where %w", err)
	}
	if !c.IsSet("filter-json") {
		if c.Bool("unchecked") {
			return errors.New("--unchecked requires --filter-json")
		}
		return nil
	}
	text, err := command.Argument(c, c.String("filter-json"))
	if err == nil {
		err = reader.ParseJSON(q, text, c.Bool("unchecked"))
	}
	if err != nil {
		return fmt.Errorf("--filter-json: %w", err)
	}
	return nil
}

// readWhere adds the conditions of --where to a query.
func readWhere(c *cli.Context, reader filter.Reader, q *client.Query) error {
	texts, err := readConditions(c)
	if err != nil {
		return err
	}
	conditions, err := reader.ParseAll(texts)
	if err != nil {
		return err
	}
	for _, condition := range conditions {
		q.Where, err = filter.Append(q.Where, condition)
		if err != nil {
			return err
		}
	}
	return nil
}

// readConditions returns the conditions of --where. Files named by @FILE have a
// condition per line; empty lines and lines that start with # are skipped.
func readConditions(c *cli.Context) ([]string, error) {
	var conditions []string
	for _, text := range c.StringSlice("where") {
		if !strings.HasPrefix(text, "@") {
			conditions = append(conditions, text)
			continue
		}
		content, err := command.Argument(c, text)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(content) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' {
				conditions = append(conditions, line)
			}
		}
	}
	return conditions, nil
}
