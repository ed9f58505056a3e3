package complete

import (
	"cmp"
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
		return Candidates(profile.Table, func(s profile.Setting) (string, string) { return s.Name, s.Meaning })
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
	all := c.Objects(noun, func(name string) string { return c.values[name] })
	for i, one := range all {
		if strings.Contains(one.Value, " ") && !c.quoted {
			all[i].Value = map[string]string{"bash": strings.ReplaceAll(one.Value, " ", `\ `), "powershell": `"` + one.Value + `"`}[c.shell]
			all[i].Value = cmp.Or(all[i].Value, one.Value)
		}
	}
	return all
}

// statuses returns the values of --status, the last of a list for messages.
func (c *line) statuses() []Candidate {
	switch groupKinds[c.group] {
	case "Message":
		head := c.current[:strings.LastIndex(c.current, ",")+1]
		return Candidates(filter.StatusNames(), func(word string) (string, string) { return head + word, "" })
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
	if values, known := c.Values[name]; known {
		return values
	}
	return c.ofSetting(strings.ReplaceAll(name, "-", "_"))
}

// ofSetting returns the values of a setting.
func (c *line) ofSetting(name string) []Candidate {
	s, known := profile.LookupSetting(name)
	switch {
	case !known:
		return nil
	case name == "profile":
		return c.profiles()
	case s.Form == profile.YesNo:
		return Plain([]string{"true", "false"})
	case s.Form == profile.FormatName:
		return Candidates(output.Formats(), func(f output.Format) (string, string) { return f.Name, f.Summary })
	}
	return Plain(s.Form.Choices())
}

// Plain returns candidates without descriptions.
func Plain(values []string) []Candidate {
	return Candidates(values, func(value string) (string, string) { return value, "" })
}

// Candidates returns a candidate for each item of a list.
func Candidates[T any](list []T, of func(T) (value, meaning string)) []Candidate {
	var all []Candidate
	for _, one := range list {
		value, meaning := of(one)
		all = append(all, Candidate{value, meaning})
	}
	return all
}

func (c *line) records() []Candidate {
	return Candidates(c.registry().Kinds(), func(k *record.Kind) (string, string) { return k.Name, k.Summary })
}

func (c *line) profiles() []Candidate {
	file, err := profile.Read(c.Env)
	if err != nil {
		return nil
	}
	var all []Candidate
	for _, name := range file.Profiles() {
		one := Candidate{Value: name}
		if e := file.Lookup(name, "url"); e != nil {
			one.Meaning = e.Text
		}
		all = append(all, one)
	}
	return all
}

// events returns the events of the ERP.
func events() []Candidate {
	names := record.Texts(record.Events(), func(e record.Event) string { return e.Name })
	slices.Sort(names)
	return Plain(names)
}

// fieldList completes the last field of a list.
func (c *line) fieldList(ordered bool) []Candidate {
	kind := c.kindOfLine()
	if kind == nil {
		return nil
	}
	head := c.current[:strings.LastIndexAny(c.current, ",;")+1]
	used := strings.FieldsFunc(strings.ToLower(head), func(r rune) bool { return r == ',' || r == ';' })
	var all []Candidate
	for _, f := range kind.Fields {
		if slices.Contains(used, strings.ToLower(f.Name)) {
			continue
		}
		all = append(all, Candidate{head + f.Name, f.TypeName()})
		if ordered {
			all = append(all, Candidate{head + "-" + f.Name, f.TypeName() + ", descending"})
		}
	}
	return all
}

// conditions completes a condition: first the field, then its operators. Inside
// quotes these are symbols and words; outside, where shells would interpret symbols,
// the names of query parameters.
func (c *line) conditions() []Candidate {
	kind := c.kindOfLine()
	if kind == nil {
		return nil
	}
	var all []Candidate
	for _, f := range kind.Fields {
		if len(c.current) < len(f.Name) || !strings.EqualFold(c.current[:len(f.Name)], f.Name) {
			all = append(all, Candidate{f.Name, f.TypeName() + ": " + filter.Allowed(f.Filter)})
			continue
		}
		if value, ok := strings.CutPrefix(c.current[len(f.Name):], "="); ok && !strings.Contains(value, " ") && filter.IsStatus(kind, f) {
			for _, word := range filter.StatusNames() {
				all = append(all, Candidate{Value: f.Name + "=" + word})
			}
		}
		for _, o := range f.Filter.Operators() {
			if !c.quoted {
				all = append(all, Candidate{f.Name + o.Suffix() + "=", filter.Meaning(o)})
				continue
			}
			if symbol := filter.Symbol(o); symbol != "" {
				all = append(all, Candidate{f.Name + symbol, filter.Meaning(o)})
			}
			all = append(all, Candidate{f.Name + " " + filter.Word(o) + " ", filter.Meaning(o)})
		}
	}
	return all
}
