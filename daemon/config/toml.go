package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFile is a file of settings while it is read.
type tomlFile struct {
	name     string
	values   map[string]any
	known    map[string]given // the settings that may stand in a file, by their keys
	seen     map[string]bool  // keys of settings taken and of unknown tables
	given    Layer
	problems []string
}

// parseTOML reads settings from the text of a file. The decoder gives the
// values; the parser underneath it is asked for the keys in their order and
// for the lines that they stand in.
func parseTOML(name string, data []byte) (Layer, []string) {
	f := tomlFile{name: name, known: make(map[string]given), seen: make(map[string]bool)}
	if err := toml.Unmarshal(data, &f.values); err != nil {
		place := name
		if at, is := errors.AsType[*toml.DecodeError](err); is {
			line, column := at.Position()
			place = fmt.Sprintf("%s:%d:%d", name, line, column)
		}
		return nil, []string{fmt.Sprintf("file %s: %s", place, strings.TrimPrefix(err.Error(), "toml: "))}
	}
	for _, g := range waysToGive() {
		for _, key := range []string{g.setting.Name, g.setting.key} {
			if key != "" && !g.setting.outside {
				f.known[g.suffixed(key)] = g
			}
		}
	}
	var p unstable.Parser
	p.Reset(data)
	var head []string
	for p.NextExpression() {
		if node := p.Expression(); node.Kind == unstable.KeyValue {
			f.readExpression(&p, head, node)
		} else {
			head = f.readExpression(&p, nil, node)
		}
	}
	return f.given, f.problems
}

// readExpression takes what a line of the file gives, and what an inline table in
// it does. It returns the path of its key.
func (f *tomlFile) readExpression(p *unstable.Parser, head []string, node *unstable.Node) []string {
	path, line := slices.Clone(head), 0
	for parts := node.Key(); parts.Next(); {
		path = append(path, string(parts.Node().Data))
		line = p.Shape(parts.Node().Raw).Start.Line
	}
	f.readKey(path, Origin(fmt.Sprintf("file %s:%d", f.name, line)))
	if node.Kind == unstable.KeyValue && node.Value().Kind == unstable.InlineTable {
		for inner := node.Value().Children(); inner.Next(); {
			f.readExpression(p, path, inner.Node())
		}
	}
	return path
}

// readKey takes the setting that a key belongs to, which for a setting of pairs
// is the table around it.
func (f *tomlFile) readKey(path []string, origin Origin) {
	for n := range path {
		name := strings.Join(path[:n+1], ".")
		g, known := f.known[name]
		_, isTable := f.lookup(name).(map[string]any)
		switch {
		case f.seen[name]:
			return
		case known && !(isTable && isGroup(name)):
			f.seen[name] = true
			g.origin = origin
			f.take(name, g)
			return
		}
	}
	if name := strings.Join(path, "."); !isGroup(name) {
		f.seen[name] = true
		f.problems = append(f.problems, fmt.Sprintf("%s: unknown key %q%s", origin, name, record.DidYouMean(record.Suggest(name, tomlNames()))))
	}
}

// take adds a setting's value as text.
func (f *tomlFile) take(name string, g given) {
	value := f.lookup(name)
	if value == nil {
		group, key := g.setting.group(), name[strings.LastIndex(name, ".")+1:]
		f.problems = append(f.problems, fmt.Sprintf("%s: %s must stand as %q in the table [%s]", g.origin, name, key, group))
		return
	}
	text, err := g.setting.kind().textOfTOML(value)
	for _, other := range f.given {
		if err == nil && other.setting.Name == g.setting.Name && other.inFile == g.inFile {
			err = conflict(other)
		}
	}
	if err != nil {
		f.problems = append(f.problems, problem(g.setting.Name, g.origin, err))
		return
	}
	g.text = text
	f.given = append(f.given, g)
}

// lookup is the value at a path of keys with points between them, nil without one.
func (f *tomlFile) lookup(path string) any {
	var value any = f.values
	for key := range strings.SplitSeq(path, ".") {
		members, _ := value.(map[string]any)
		value = members[key]
	}
	return value
}

// isGroup reports whether settings stand in the table of that name.
func isGroup(name string) bool {
	return slices.ContainsFunc(table, func(s Setting) bool { return s.group() == name })
}

// tomlNames lists the tables and keys that a file may have, for suggestions.
func tomlNames() []string {
	var names []string
	for _, s := range table {
		if group := s.group(); group != "" && !slices.Contains(names, group) {
			names = append(names, group)
		}
		if !s.outside && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// textOfTOML is the text of a decoded value, if its TOML type suits the setting.
// No message repeats the value: it may be a secret.
func (k kind) textOfTOML(value any) (string, error) {
	if text, is := value.(string); is {
		return text, nil
	}
	if reflect.TypeOf(value).Kind() != k.toml {
		return "", errors.New("it must be " + k.example)
	}
	var texts []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			text, is := item.(string)
			if !is || strings.Contains(text, ",") {
				return "", errors.New("every item of the list must be a text without commas")
			}
			texts = append(texts, text)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, is := v[name].(string)
			if !is || strings.Contains(text, ",") {
				return "", fmt.Errorf("%s must be a text without commas", name)
			}
			texts = append(texts, name+"="+text)
		}
	default:
		return fmt.Sprint(v), nil
	}
	return strings.Join(texts, ","), nil
}
