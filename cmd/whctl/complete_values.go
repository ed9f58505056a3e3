package main

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// named are the values of what ArgsUsage calls by a word. A word that stands
// nowhere here has none; the shells then offer files.
func (c *completion) named(word string) []candidate {
	switch word {
	case "RECORD":
		return c.records()
	case "PROFILE":
		return c.profiles()
	case "SETTING":
		return settingCandidates()
	case "EVENT":
		return c.events()
	case "SUBSCRIBER":
		return plain(c.cachedNames("subscribers"))
	case "COMMAND|TOPIC":
		return slices.Concat(commandCandidates(c.app.Commands), topicCandidates())
	case "SHELL":
		return plain(shellNames())
	case "VALUE":
		if len(c.args) > 0 {
			return c.ofSetting(c.args[0])
		}
	}
	return nil
}

// ofFlag are the values of a flag.
func (c *completion) ofFlag(name string) []candidate {
	switch name {
	case "where":
		return c.conditions()
	case "fields", "order-by":
		return c.fieldList(name == "order-by")
	case "events", "event":
		return c.events()
	case "subscriber":
		return plain(c.cachedNames("subscribers"))
	case "progress":
		return plain(progressModes)
	case "confirm":
		return c.profiles()
	}
	return c.ofSetting(strings.ReplaceAll(name, "-", "_"))
}

// ofSetting are the values of a setting.
func (c *completion) ofSetting(name string) []candidate {
	s, known := profile.Named(name)
	switch {
	case !known:
	case name == "profile":
		return c.profiles()
	case s.Form == profile.YesNo:
		return plain([]string{"true", "false"})
	case s.Form == profile.FormatName:
		return formatCandidates()
	}
	return plain(s.Form.Choices())
}

func plain(values []string) []candidate {
	var all []candidate
	for _, value := range values {
		all = append(all, candidate{value: value})
	}
	return all
}

func (c *completion) records() []candidate {
	var all []candidate
	for _, k := range c.registry.Kinds() {
		all = append(all, candidate{k.Name, k.Summary})
	}
	return all
}

func (c *completion) profiles() []candidate {
	file, err := profile.Read(c.env)
	if err != nil {
		return nil
	}
	var all []candidate
	for _, name := range file.Profiles() {
		one := candidate{value: name}
		if e := file.Lookup(name, "url"); e != nil {
			one.meaning = e.Text
		}
		all = append(all, one)
	}
	return all
}

// events are those that the service is known to have, and those of the ERP.
func (c *completion) events() []candidate {
	names := c.cachedNames("events")
	for _, e := range record.Events() {
		if !slices.Contains(names, e.Name) {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return plain(names)
}

func settingCandidates() []candidate {
	var all []candidate
	for _, s := range profile.Table {
		all = append(all, candidate{s.Name, s.Meaning})
	}
	return all
}

func formatCandidates() []candidate {
	var all []candidate
	for _, f := range output.Formats() {
		all = append(all, candidate{f.Name, f.Summary})
	}
	return all
}

func topicCandidates() []candidate {
	var all []candidate
	for _, t := range topics() {
		all = append(all, candidate{t.name, t.summary})
	}
	return all
}

// fieldList completes the last of several fields.
func (c *completion) fieldList(ordered bool) []candidate {
	kind := c.kindAsked()
	if kind == nil {
		return nil
	}
	head := c.current[:strings.LastIndexAny(c.current, ",;")+1]
	taken := strings.FieldsFunc(strings.ToLower(head), func(r rune) bool { return r == ',' || r == ';' })
	var all []candidate
	for _, f := range kind.Fields {
		if slices.Contains(taken, strings.ToLower(f.Name)) {
			continue
		}
		all = append(all, candidate{head + f.Name, f.TypeName()})
		if ordered {
			all = append(all, candidate{head + "-" + f.Name, f.TypeName() + ", descending"})
		}
	}
	return all
}

// conditions completes a condition: first the field, then its operators. Inside
// of quotes these are signs and words; outside, where shells would read signs
// as something else, the names of the service's members.
func (c *completion) conditions() []candidate {
	kind := c.kindAsked()
	if kind == nil {
		return nil
	}
	var all []candidate
	for _, f := range kind.Fields {
		if len(c.current) < len(f.Name) || !strings.EqualFold(c.current[:len(f.Name)], f.Name) {
			all = append(all, candidate{f.Name, f.TypeName() + ": " + filter.Allowed(f.Filter)})
			continue
		}
		for _, o := range f.Filter.Operators() {
			if !c.quoted {
				all = append(all, candidate{f.Name + o.Suffix() + "=", filter.Meaning(o)})
				continue
			}
			if symbol := filter.Symbol(o); symbol != "" {
				all = append(all, candidate{f.Name + symbol, filter.Meaning(o)})
			}
			all = append(all, candidate{f.Name + " " + filter.Word(o) + " ", filter.Meaning(o)})
		}
	}
	return all
}
