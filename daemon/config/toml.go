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

// tomlFile parses a settings file.
type tomlFile struct {
	name        string
	values      map[string]any
	known       map[string]assignment // the settings that a file may contain, by key
	seen        map[string]bool       // keys of settings already read and of unknown tables
	assignments Layer
	problems    []string
}

// parseTOML parses a settings file. The decoder returns the values, and the parser
// below it the keys in order, with their lines.
func parseTOML(name string, data []byte) (Layer, []string) {
	f := tomlFile{name: name, known: make(map[string]assignment), seen: make(map[string]bool)}
	data, err := withoutMark(data)
	if err != nil {
		return nil, []string{fmt.Sprintf("file %s %v", name, err)}
	}
	if err := toml.Unmarshal(data, &f.values); err != nil {
		position := name
		if decodeErr, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := decodeErr.Position()
			position = fmt.Sprintf("%s:%d:%d", name, line, column)
		}
		message := strings.TrimPrefix(err.Error(), "toml: ")
		return nil, []string{fmt.Sprintf("file %s: %s", position, message)}
	}
	for _, g := range assignable() {
		for _, key := range []string{g.setting.Name, g.setting.key} {
			if key != "" && !g.setting.notInFile {
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
	return f.assignments, f.problems
}

// readExpression reads an expression of the file, including inline tables. It returns
// the path of its key.
func (f *tomlFile) readExpression(p *unstable.Parser, head []string, node *unstable.Node) []string {
	path := slices.Clone(head)
	line := 0
	parts := node.Key()
	for parts.Next() {
		path = append(path, string(parts.Node().Data))
		line = p.Shape(parts.Node().Raw).Start.Line
	}
	f.readKey(path, Origin(fmt.Sprintf("file %s:%d", f.name, line)))
	if node.Kind == unstable.KeyValue && node.Value().Kind == unstable.InlineTable {
		inner := node.Value().Children()
		for inner.Next() {
			f.readExpression(p, path, inner.Node())
		}
	}
	return path
}

// readKey reads the setting that a key belongs to. For a setting with NAME=VALUE pairs, its
// name is that of the enclosing table.
func (f *tomlFile) readKey(path []string, origin Origin) {
	for n := range path {
		name := strings.Join(path[:n+1], ".")
		if f.seen[name] {
			return
		}
		g, ok := f.known[name]
		if ok && !f.isGroupTable(name) {
			f.seen[name] = true
			g.origin = origin
			f.add(name, g)
			return
		}
	}
	name := strings.Join(path, ".")
	if !isGroup(name) {
		f.seen[name] = true
		f.addUnknown(path, origin)
	}
}

// isGroupTable reports whether name is a table of settings in the file. A group such as store may
// have the name of a setting: [store] is the group, and store = ".." is the setting.
func (f *tomlFile) isGroupTable(name string) bool {
	_, isTable := f.lookup(name).(map[string]any)
	return isTable && isGroup(name)
}

// addUnknown adds the problem of a key that names no setting.
func (f *tomlFile) addUnknown(path []string, origin Origin) {
	name := strings.Join(path, ".")
	near := record.Suggest(name, tomlNames())

	// The setting erp is written as dsn in the table erp.
	dsn := path[0] + ".dsn"
	if _, ok := f.known[dsn]; ok && name == path[0]+"."+path[0] {
		near = []string{dsn}
	}
	f.problems = append(f.problems,
		fmt.Sprintf("%s: unknown key %q%s", origin, name, record.DidYouMean(near)))
}

// add adds a setting's value as text.
func (f *tomlFile) add(name string, g assignment) {
	value := f.lookup(name)
	if value == nil {
		group := g.setting.group()
		key := name[strings.LastIndex(name, ".")+1:]
		f.problems = append(f.problems,
			fmt.Sprintf("%s: %s must be written as %q in the table [%s]", g.origin, name, key, group))
		return
	}
	text, err := g.setting.kind().textOfTOML(value)
	for _, other := range f.assignments {
		if err == nil && other.setting.Name == g.setting.Name && other.inFile == g.inFile {
			err = conflict(other)
		}
	}
	if err != nil {
		f.problems = append(f.problems, problem(g.setting.Name, g.origin, err))
		return
	}
	g.text = text
	f.assignments = append(f.assignments, g)
}

// lookup returns the value at a dotted path of keys, nil if there is none.
func (f *tomlFile) lookup(path string) any {
	var value any = f.values
	for key := range strings.SplitSeq(path, ".") {
		members, _ := value.(map[string]any)
		value = members[key]
	}
	return value
}

// isGroup reports whether name is a table that contains settings.
func isGroup(name string) bool {
	return slices.ContainsFunc(table, func(s Setting) bool { return s.group() == name })
}

// tomlNames lists the tables and keys that a file may contain, for suggestions.
func tomlNames() []string {
	var names []string
	for _, s := range table {
		if group := s.group(); group != "" && !slices.Contains(names, group) {
			names = append(names, group)
		}
		if !s.notInFile && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// textOfTOML returns a decoded value as text. It fails if the TOML type does not match
// that of the setting. Errors do not quote the value, which may be a secret.
func (k kind) textOfTOML(value any) (string, error) {
	if text, ok := value.(string); ok {
		return text, nil
	}
	if n, ok := value.(int64); ok && k.toml == reflect.Float64 {
		return fmt.Sprint(n), nil // users write 1 for 1.0
	}
	if reflect.TypeOf(value).Kind() != k.toml {
		return "", errors.New("it must be " + k.example)
	}
	var texts []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			text, ok := item.(string)
			if !ok || strings.Contains(text, ",") {
				return "", errors.New("every list item must be a string without commas")
			}
			texts = append(texts, text)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, ok := v[name].(string)
			if !ok || strings.Contains(text, ",") {
				return "", fmt.Errorf("%s must be a string without commas", name)
			}
			texts = append(texts, name+"="+text)
		}
	default:
		return fmt.Sprint(v), nil
	}
	return strings.Join(texts, ","), nil
}
