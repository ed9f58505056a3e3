package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// fileLayer reads the TOML file that the setting "config" names, if it does.
func fileLayer(config given, readFile func(string) ([]byte, error), wrong *UsageError) Layer {
	if config.text == "" {
		return nil
	}
	data, err := readFile(config.text)
	if err != nil {
		err = fmt.Errorf("cannot read the file %s: %w", config.text, cause(err))
		wrong.Problems = append(wrong.Problems, problem("config", config.origin, err))
		return nil
	}
	l, problems := parseTOML(config.text, data)
	wrong.Problems = append(wrong.Problems, problems...)
	return l
}

// parseTOML reads settings from the text of a file. The decoder gives the
// values; the parser underneath it is asked for the keys in their order and
// for the lines that they stand in.
func parseTOML(name string, data []byte) (Layer, []string) {
	f := tomlFile{name: name, seen: make(map[string]bool)}
	if err := toml.Unmarshal(data, &f.values); err != nil {
		return nil, []string{syntaxProblem(name, err)}
	}
	for _, key := range tomlKeys(data) {
		f.read(key)
	}
	return f.given, f.problems
}

func syntaxProblem(name string, err error) string {
	message := strings.TrimPrefix(err.Error(), "toml: ")
	if at, is := errors.AsType[*toml.DecodeError](err); is {
		line, column := at.Position()
		return fmt.Sprintf("file %s:%d:%d: %s", name, line, column, message)
	}
	return fmt.Sprintf("file %s: %s", name, message)
}

// tomlKey is a key or a table's head where it stands in the file.
type tomlKey struct {
	path []string
	line int
}

// tomlKeys lists the keys of a file that the decoder has accepted.
func tomlKeys(data []byte) []tomlKey {
	var p unstable.Parser
	p.Reset(data)
	var keys []tomlKey
	var head []string
	for p.NextExpression() {
		node := p.Expression()
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			keys = appendKeys(keys, &p, nil, node)
			head = keys[len(keys)-1].path
		case unstable.KeyValue:
			keys = appendKeys(keys, &p, head, node)
		}
	}
	return keys
}

// appendKeys adds the key of an expression and those of an inline table in it.
func appendKeys(keys []tomlKey, p *unstable.Parser, head []string, node *unstable.Node) []tomlKey {
	key := tomlKey{path: slices.Clone(head)}
	for parts := node.Key(); parts.Next(); {
		part := parts.Node()
		key.path = append(key.path, string(part.Data))
		key.line = p.Shape(part.Raw).Start.Line
	}
	keys = append(keys, key)
	if node.Kind == unstable.KeyValue && node.Value().Kind == unstable.InlineTable {
		for inner := node.Value().Children(); inner.Next(); {
			keys = appendKeys(keys, p, key.path, inner.Node())
		}
	}
	return keys
}

// tomlFile is a file while it is read.
type tomlFile struct {
	name     string
	values   map[string]any
	seen     map[string]bool // names of settings taken and of unknown tables
	given    Layer
	problems []string
}

// read takes the setting that a key belongs to, which for a setting of pairs
// is the table around it.
func (f *tomlFile) read(key tomlKey) {
	for n := range key.path {
		name := strings.Join(key.path[:n+1], ".")
		s, is := settingNamed(strings.TrimSuffix(name, fileSuffix))
		inFile := is && s.secret() && strings.HasSuffix(name, fileSuffix)
		if f.seen[name] {
			return
		}
		if is && f.isGroup(name) && f.isTable(key.path[:n+1]) {
			continue
		}
		if is && !s.outside && (inFile || s.Name == name || s.key == name) {
			f.seen[name] = true
			f.take(key, name, given{setting: s, inFile: inFile, origin: f.origin(key)})
			return
		}
	}
	name := strings.Join(key.path, ".")
	if !f.isGroup(name) {
		f.seen[name] = true
		f.problems = append(f.problems, fmt.Sprintf("file %s:%d: unknown key %q%s", f.name, key.line, name, DidYouMean("", record.Near(name, f.names()))))
	}
}

func (f *tomlFile) origin(key tomlKey) Origin {
	return Origin(fmt.Sprintf("file %s:%d", f.name, key.line))
}

// isTable reports whether other keys stand under the path.
func (f *tomlFile) isTable(path []string) bool {
	value, _ := f.lookup(path)
	_, is := value.(map[string]any)
	return is
}

// take adds a setting's value as text.
func (f *tomlFile) take(key tomlKey, name string, g given) {
	value, found := f.lookup(strings.Split(name, "."))
	if !found {
		f.problems = append(f.problems, fmt.Sprintf("file %s:%d: %s must stand as %q in the table [%s]",
			f.name, key.line, name, name[strings.LastIndex(name, ".")+1:], g.setting.group()))
		return
	}
	text, err := tomlText(g.setting.value(new(Config)), value)
	if err != nil {
		f.problems = append(f.problems, problem(g.setting.Name, g.origin, err))
		return
	}
	for _, other := range f.given {
		if other.setting.Name == g.setting.Name && other.inFile == g.inFile {
			f.problems = append(f.problems, problem(g.setting.Name, g.origin, conflict(other)))
			return
		}
	}
	g.text = text
	f.given = append(f.given, g)
}

func (f *tomlFile) lookup(path []string) (any, bool) {
	var value any = f.values
	for _, part := range path {
		members, is := value.(map[string]any)
		if !is {
			return nil, false
		}
		if value, is = members[part]; !is {
			return nil, false
		}
	}
	return value, true
}

// isGroup reports whether settings stand in the table of that name.
func (f *tomlFile) isGroup(name string) bool {
	return slices.ContainsFunc(table, func(s Setting) bool { return s.group() == name })
}

// names lists the keys and tables that a file may have, for suggestions.
func (f *tomlFile) names() []string {
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

// tomlText is the text of a decoded value, if its TOML type suits the setting.
// No message repeats the value: it may be a secret.
func tomlText(into value, v any) (string, error) {
	_, isInt := into.(intValue)
	_, isSize := into.(sizeValue)
	_, isBool := into.(boolValue)
	isList := isList(into)
	_, isMap := into.(mapValue)
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		if isInt || isSize {
			return strconv.FormatInt(v, 10), nil
		}
	case bool:
		if isBool {
			return strconv.FormatBool(v), nil
		}
	case []any:
		if isList {
			return tomlList(v)
		}
	case map[string]any:
		if isMap {
			return tomlPairs(v)
		}
	}
	return "", errors.New("it must be " + tomlExample(into))
}

func tomlExample(into value) string {
	switch into.(type) {
	case intValue:
		return "a number such as 10"
	case sizeValue:
		return `a size such as 65536 or "64KiB"`
	case boolValue:
		return "true or false"
	case networksValue:
		return `a list such as ["10.0.0.0/8"]`
	case originsValue:
		return `a list such as ["https://shop.example"]`
	case hostsValue:
		return `a list such as ["erp.example"]`
	case mapValue:
		return `a table of texts such as { SO_Totals = "v_SO_Totals" }`
	case durationValue:
		return `a duration in quotes such as "30s"`
	}
	return "a text in quotes"
}

func tomlList(items []any) (string, error) {
	var texts []string
	for _, item := range items {
		text, is := item.(string)
		if !is || strings.Contains(text, ",") {
			return "", errors.New("every item of the list must be a text without commas")
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ","), nil
}

func tomlPairs(pairs map[string]any) (string, error) {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		text, is := pairs[name].(string)
		if !is || strings.Contains(text, ",") {
			return "", fmt.Errorf("%s must be a text without commas", name)
		}
		texts = append(texts, name+"="+text)
	}
	return strings.Join(texts, ","), nil
}
