package complete

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// named returns the values of a word of ArgsUsage. Other words have none; the
// shells then offer files.
func (c *line) named(word string) []Candidate {
	switch word {
	case "RECORD":
		return c.records()
	case "PROFILE":
		return c.profiles()
	case "SETTING":
		return Candidates(profile.Table, func(s profile.Setting) (string, string) {
			return s.Name, s.Meaning
		})
	case "EVENT":
		return events()
	case "COMMAND|TOPIC":
		return slices.Concat(commandCandidates(c.App.Commands), c.Values["TOPIC"])
	case "SHELL":
		return Plain(cmdline.Shells)
	case "VALUE":
		if len(c.args) > 0 {
			return c.ofSetting(c.args[0])
		}
	}
	return c.objects(word)
}

// objects returns objects of the service. Names with blanks are quoted where the shell does
// not do it.
func (c *line) objects(noun string) []Candidate {
	if c.Objects == nil {
		return nil
	}
	candidates := c.Objects(noun, func(name string) string { return c.values[name] })
	for i, candidate := range candidates {
		if c.quoted || !strings.Contains(candidate.Value, " ") {
			continue
		}
		switch c.shell {
		case "bash":
			candidates[i].Value = strings.ReplaceAll(candidate.Value, " ", `\ `)
		case "powershell":
			candidates[i].Value = `"` + candidate.Value + `"`
		}
	}
	return candidates
}

// statuses returns the values of --status. For messages, it completes the last one of a list.
func (c *line) statuses() []Candidate {
	switch groupKinds[c.group] {
	case "Message":
		head := c.current[:strings.LastIndex(c.current, ",")+1]
		return Candidates(filter.StatusNames(), func(word string) (string, string) {
			return head + word, ""
		})
	case "RequestLog":
		return Plain([]string{"2xx", "3xx", "4xx", "5xx"})
	}
	return Plain([]string{"enabled", "disabled"})
}

// ofFlag returns the values of a flag.
func (c *line) ofFlag(name string) []Candidate {
	switch name {
	case "where":
		return c.conditions()
	case "fields", "order-by":
		return c.fieldList(name == "order-by")
	case "events", "event":
		return events()
	case "confirm":
		return c.profiles()
	case "status":
		return c.statuses()
	case "subscriber", "subscription":
		return c.objects(strings.ToUpper(name))
	}
	if values, ok := c.Values[name]; ok {
		return values
	}
	return c.ofSetting(strings.ReplaceAll(name, "-", "_"))
}

// ofSetting returns the values of a setting.
func (c *line) ofSetting(name string) []Candidate {
	s, ok := profile.LookupSetting(name)
	switch {
	case !ok:
		return nil
	case name == "profile":
		return c.profiles()
	case s.Form == profile.YesNo:
		return Plain([]string{"true", "false"})
	case s.Form == profile.FormatName:
		return Candidates(output.Formats(), func(f output.Format) (string, string) {
			return f.Name, f.Summary
		})
	}
	return Plain(s.Form.Choices())
}

// Plain returns candidates without descriptions.
func Plain(values []string) []Candidate {
	return Candidates(values, func(value string) (string, string) { return value, "" })
}

// Candidates returns a candidate for each entry of a list.
func Candidates[T any](list []T, describe func(T) (value, meaning string)) []Candidate {
	var candidates []Candidate
	for _, entry := range list {
		value, meaning := describe(entry)
		candidates = append(candidates, Candidate{value, meaning})
	}
	return candidates
}

func (c *line) records() []Candidate {
	return Candidates(c.registry().Kinds(), func(k *record.Kind) (string, string) {
		return k.Name, k.Summary
	})
}

func (c *line) profiles() []Candidate {
	file, err := profile.Read(c.Env)
	if err != nil {
		return nil
	}
	var candidates []Candidate
	for _, name := range file.Profiles() {
		candidate := Candidate{Value: name}
		if e := file.Lookup(name, "url"); e != nil {
			candidate.Meaning = e.Text
		}
		candidates = append(candidates, candidate)
	}
	return candidates
}

// events returns the events of the ERP.
func events() []Candidate {
	names := record.Texts(record.Events(), func(e record.Event) string { return e.Name })
	slices.Sort(names)
	return Plain(names)
}

// fieldList completes the last field of a list. In an order, a field can have a leading -.
func (c *line) fieldList(isOrder bool) []Candidate {
	kind := c.kindOfLine()
	if kind == nil {
		return nil
	}
	head := c.current[:strings.LastIndexAny(c.current, ",;")+1]
	isSeparator := func(r rune) bool { return r == ',' || r == ';' }
	used := strings.FieldsFunc(strings.ToLower(head), isSeparator)
	var candidates []Candidate
	for _, f := range kind.Fields {
		if slices.Contains(used, strings.ToLower(f.Name)) {
			continue
		}
		candidates = append(candidates, Candidate{head + f.Name, f.TypeName()})
		if isOrder {
			meaning := f.TypeName() + ", descending"
			candidates = append(candidates, Candidate{head + "-" + f.Name, meaning})
		}
	}
	return candidates
}

// conditions completes a condition: first the field, then its operators.
func (c *line) conditions() []Candidate {
	kind := c.kindOfLine()
	if kind == nil {
		return nil
	}
	var candidates []Candidate
	for _, f := range kind.Fields {
		hasField := len(c.current) >= len(f.Name) && strings.EqualFold(c.current[:len(f.Name)], f.Name)
		if !hasField {
			usage := f.TypeName() + ": " + filter.Allowed(f.Filter)
			candidates = append(candidates, Candidate{f.Name, usage})
			continue
		}
		status, ok := strings.CutPrefix(c.current[len(f.Name):], "=")
		if ok && !strings.Contains(status, " ") && filter.IsStatus(kind, f) {
			for _, word := range filter.StatusNames() {
				candidates = append(candidates, Candidate{Value: f.Name + "=" + word})
			}
		}
		candidates = append(candidates, c.operators(f)...)
	}
	return candidates
}

// operators returns the conditions on a field with each of its operators. Inside quotes these are
// symbols and words; outside, where shells would interpret symbols, the names of query parameters.
func (c *line) operators(f record.Field) []Candidate {
	var candidates []Candidate
	for _, o := range f.Filter.Operators() {
		meaning := filter.Meaning(o)
		if !c.quoted {
			candidates = append(candidates, Candidate{f.Name + o.Suffix() + "=", meaning})
			continue
		}
		if symbol := filter.Symbol(o); symbol != "" {
			candidates = append(candidates, Candidate{f.Name + symbol, meaning})
		}
		candidates = append(candidates, Candidate{f.Name + " " + filter.Word(o) + " ", meaning})
	}
	return candidates
}
