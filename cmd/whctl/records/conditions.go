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
	usage  string   // empty for that of the field in statusUsages
	fields []string // the first one that the kind has is compared
	parse  conditionParser
}

// conditionParser parses the value of a flag as a condition on a field. today is the current time
// in the zone of the settings.
type conditionParser func(
	kind *record.Kind, field record.Field, text string, today time.Time,
) (client.Filter, error)

// shorthands is the table of these flags.
var shorthands = []shorthand{
	{
		flag:   "status",
		fields: []string{"Status", "StatusCode", "IsEnabled"},
		parse:  parseStatus,
	},
	{
		flag:   "event",
		usage:  "only events that match `PATTERN`, such as salesorder.*",
		fields: []string{"EventName"},
		parse:  parseEvent,
	},
	{
		flag:   "key",
		usage:  "only messages of events with this `KEY`",
		fields: []string{"Key"},
		parse:  parseText(record.Equal),
	},
	{
		flag:   "endpoint",
		usage:  "only URLs or paths that contain `TEXT`",
		fields: []string{"URL", "PathInfo"},
		parse:  parseText(record.Contains),
	},
	{
		flag:   "since",
		usage:  "at `TIME` or later: 2h, 3d, today, 13:00, 2026-07-01, 2026-07-01T10:00",
		fields: timeFields,
		parse:  parseTime(record.GreaterThanOrEqualTo),
	},
	{
		flag:   "until",
		usage:  "before `TIME`",
		fields: timeFields,
		parse:  parseTime(record.LessThan),
	},
}

var timeFields = []string{"AddedDateTime", "DateTime", "LastSavedDateTime"}

// statusUsages describes --status by field.
var statusUsages = map[string]string{
	"Status":     "only the statuses `A,B`: " + strings.Join(filter.StatusNames(), ", ") + " (given up)",
	"StatusCode": "only the HTTP status `CODE`, such as 404, or class, such as 5xx",
	"IsEnabled":  "`STATUS`  only enabled or only disabled objects",
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

// parseText returns a parser for a flag with a text to compare.
func parseText(operator record.Operator) conditionParser {
	return func(_ *record.Kind, field record.Field, text string, _ time.Time) (client.Filter, error) {
		return client.Filter{Field: field.Name, Operator: operator, Values: []string{text}}, nil
	}
}

// parseTime returns a parser for a flag with a time to compare.
func parseTime(operator record.Operator) conditionParser {
	return func(_ *record.Kind, field record.Field, text string, today time.Time) (client.Filter, error) {
		compared, err := filter.Time(text, today)
		return client.Filter{
			Field:    field.Name,
			Operator: operator,
			Values:   []string{compared.UTC().Format(wire.DateLayout)},
		}, err
	}
}

// parseStatus parses --status, which depends on the field.
func parseStatus(
	kind *record.Kind, field record.Field, text string, _ time.Time,
) (client.Filter, error) {
	if field.Type == record.Bool {
		return parseEnabled(field, text)
	}
	if filter.IsStatus(kind, field) {
		return parseMessageStatuses(field, text)
	}
	return parseHTTPStatus(field, text)
}

func parseEnabled(field record.Field, text string) (client.Filter, error) {
	word := strings.ToLower(text)
	if word != "enabled" && word != "disabled" {
		return client.Filter{}, fmt.Errorf("must be enabled or disabled, not %q", text)
	}
	value := strconv.FormatBool(word == "enabled")
	return client.Filter{Field: field.Name, Values: []string{value}}, nil
}

func parseMessageStatuses(field record.Field, list string) (client.Filter, error) {
	condition := client.Filter{Field: field.Name, Operator: record.In}
	for word := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' }) {
		n, err := filter.StatusNumber(strings.TrimSpace(word))
		if err != nil {
			return client.Filter{}, err
		}
		condition.Values = append(condition.Values, strconv.Itoa(n))
	}
	if len(condition.Values) == 1 {
		condition.Operator = record.Equal
	}
	return condition, nil
}

// parseHTTPStatus parses a status code of HTTP or a class such as 4xx.
func parseHTTPStatus(field record.Field, text string) (client.Filter, error) {
	class, isClass := strings.CutSuffix(strings.ToLower(text), "xx")
	n, err := strconv.Atoi(class)
	hasManyDigits := isClass && n > 9
	if err != nil || n < 1 || hasManyDigits {
		return client.Filter{}, fmt.Errorf("must be an HTTP status such as 404 or 5xx, not %q", text)
	}
	if !isClass {
		return client.Filter{Field: field.Name, Values: []string{text}}, nil
	}
	return client.Filter{
		Field:    field.Name,
		Operator: record.Between,
		Values:   []string{class + "00", class + "99"},
	}, nil
}

// parseEvent parses a pattern of events.
func parseEvent(
	_ *record.Kind, field record.Field, text string, _ time.Time,
) (client.Filter, error) {
	condition := client.Filter{Field: field.Name, Values: []string{text}}
	start, _, hasStar := strings.Cut(text, "*")
	if !hasStar {
		return condition, nil
	}
	if text == start+"*" {
		condition.Operator = record.StartsWith
		condition.Values = []string{start}
		return condition, nil
	}
	toLike := strings.NewReplacer("*", "%", "%", "[%]", "_", "[_]", "[", "[[]")
	condition.Operator = record.Like
	condition.Values = []string{toLike.Replace(text)}
	return condition, nil
}

// EventHint suggests events for an unknown one in --event.
func EventHint(c *cli.Context) string {
	name := c.String("event")
	names := record.Texts(record.Events(), func(e record.Event) string { return e.Name })
	isPattern := strings.Contains(name, "*")
	if name == "" || isPattern || slices.Contains(names, name) {
		return ""
	}
	return record.DidYouMean(record.Suggest(name, names))
}

// ReadFilters adds the conditions of the shorthands, --where and --filter-json to a query.
func ReadFilters(c *cli.Context, q *client.Query, today time.Time) error {
	conditions, err := readShorthands(c, q.Kind, today)
	if err != nil {
		return err
	}
	q.Where = append(q.Where, conditions...)
	reader := filter.Reader{Kind: q.Kind, Now: today}
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
	if err != nil {
		return fmt.Errorf("--filter-json: %w", err)
	}
	add := reader.AddJSON
	if c.Bool("unchecked") {
		add = reader.AddUncheckedJSON
	}
	if err := add(q, text); err != nil {
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
