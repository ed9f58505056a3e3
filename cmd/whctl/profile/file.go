package profile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// File is the configuration: settings at its top, and a table
// [profiles.NAME] for each profile.
type File struct {
	Path    string
	text    []byte
	entries []Entry
	heads   []Entry // of the tables of profiles, which have no key
}

// Entry is a key where it stands in the file.
type Entry struct {
	profile string // empty at the top of the file
	key     string
	Text    string
	line    int // from 1
	start   int // of the key and its value, in bytes
	end     int
}

// profilesTable is what the tables of profiles stand in.
const profilesTable = "profiles"

// formerNames are settings and tables of earlier versions. A file that has them
// is read as if it had not.
var formerNames = []string{"keys", "signs"}

// Path is where the configuration is; empty where there is no place for it.
func Path(env func(string) string) string {
	if path := env(EnvConfig); path != "" {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "" // such as for services, which have no home
	}
	return filepath.Join(dir, "whctl", "config.toml")
}

// Read reads the configuration. One that does not exist is empty.
func Read(env func(string) string) (*File, error) {
	path := Path(env)
	if path == "" {
		return &File{}, nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cmdline.Usagef("the configuration cannot be read: %s", err)
	}
	return Parse(path, text)
}

// Parse reads the text of a configuration. Keys that mean nothing are
// errors, since what they were meant to do would not be done.
func Parse(path string, text []byte) (*File, error) {
	f := &File{Path: path, text: text}
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, f.syntaxError(err)
	}
	var parser unstable.Parser
	parser.Reset(text)
	var head []string
	for parser.NextExpression() {
		node := parser.Expression()
		names, line := keyOf(&parser, node)
		var err error
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			head, err = names, f.addHead(names, line)
		case unstable.KeyValue:
			err = f.add(&parser, slices.Concat(head, names), line, node)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// syntaxError says where the file is no TOML.
func (f *File) syntaxError(err error) error {
	message := strings.TrimPrefix(err.Error(), "toml: ")
	if at, is := errors.AsType[*toml.DecodeError](err); is {
		line, column := at.Position()
		return cmdline.Usagef("%s:%d:%d: %s", f.Path, line, column, message)
	}
	return cmdline.Usagef("%s: %s", f.Path, message)
}

// keyOf is the key of an expression and its line.
func keyOf(parser *unstable.Parser, node *unstable.Node) (names []string, line int) {
	for parts := node.Key(); parts.Next(); {
		part := parts.Node()
		names = append(names, string(part.Data))
		line = parser.Shape(part.Raw).Start.Line
	}
	return names, line
}

// addHead takes up the head of a table. [profiles] alone is allowed.
func (f *File) addHead(names []string, line int) error {
	if slices.Contains(formerNames, names[0]) {
		return nil
	}
	if names[0] != profilesTable || len(names) > 2 {
		return cmdline.Usagef("%s:%d: there is no table [%s]; profiles stand in tables such as [profiles.prod]", f.Path, line, strings.Join(names, "."))
	}
	if len(names) == 2 {
		f.heads = append(f.heads, Entry{profile: names[1], line: line})
	}
	return nil
}

// add takes up a key and its value.
func (f *File) add(parser *unstable.Parser, names []string, line int, node *unstable.Node) error {
	if slices.Contains(formerNames, names[0]) {
		return nil
	}
	e := Entry{key: names[0], line: line, start: int(node.Raw.Offset), end: int(node.Raw.Offset + node.Raw.Length)}
	ofProfile := len(names) == 3 && names[0] == profilesTable
	if ofProfile {
		e.profile, e.key = names[1], names[2]
	}
	s, known := Named(e.key)
	if !known || s.OfProfiles != ofProfile || !ofProfile && len(names) > 1 {
		return f.unknown(names, line)
	}
	value := node.Value()
	switch {
	case value.Kind == unstable.String:
		e.Text = string(value.Data)
	case value.Kind == unstable.Bool && s.Form == YesNo, value.Kind == unstable.Integer && s.Form == count:
		e.Text = string(parser.Raw(value.Raw))
	default:
		return cmdline.Usagef("%s:%d: %s must be %s", f.Path, line, e.key, s.Form.example())
	}
	if err := s.Form.Check(e.Text); err != nil || value.Kind == unstable.String && s.Form.plain() {
		return cmdline.Usagef("%s:%d: %s must be %s", f.Path, line, e.key, s.Form.example())
	}
	f.entries = append(f.entries, e)
	return nil
}

// unknown is the error of a key that means nothing where it stands.
func (f *File) unknown(names []string, line int) error {
	inProfile := names[0] == profilesTable
	near := record.Suggest(names[len(names)-1], Names(func(s Setting) bool { return s.OfProfiles == inProfile }))
	if s, known := Named(names[len(names)-1]); known && s.OfProfiles && !inProfile {
		return cmdline.Usagef("%s:%d: %s stands in the table of a profile, such as [profiles.prod]", f.Path, line, s.Name)
	}
	return cmdline.Usagef("%s:%d: unknown key %q%s", f.Path, line, strings.Join(names, "."), cmdline.DidYouMean(near))
}

// plain reports whether values stand without quotes in the file.
func (f Form) plain() bool { return f == YesNo || f == count }

// example says how values look in the file.
func (f Form) example() string {
	switch f {
	case YesNo:
		return "true or false, without quotes"
	case count:
		return "a number from 1, without quotes"
	case span:
		return `a duration such as "30s"`
	case address:
		return `an address such as "https://erp01:5050", without user and password`
	case zone:
		return `a zone such as "Europe/Berlin"`
	}
	if names := f.Choices(); names != nil {
		return "one of " + strings.Join(names, ", ")
	}
	return "a text in quotes"
}

// inFile is a value as the file has it.
func (f Form) inFile(text string) string {
	if f.plain() {
		return text
	}
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0 {
		return `"` + text + `"`
	}
	encoded, err := toml.Marshal(map[string]string{"x": text})
	if err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(encoded), "x = "), "\n")
}

// Lookup finds a key, nil where it is not there.
func (f *File) Lookup(profile, key string) *Entry {
	for i := range f.entries {
		if f.entries[i].profile == profile && f.entries[i].key == key {
			return &f.entries[i]
		}
	}
	return nil
}

// Profiles lists the names of Profiles in the order of the file.
func (f *File) Profiles() []string {
	var names []string
	for _, e := range slices.Concat(f.heads, f.entries) {
		if e.profile != "" && !slices.Contains(names, e.profile) {
			names = append(names, e.profile)
		}
	}
	return names
}

// Has reports whether there is a profile of that name.
func (f *File) Has(profile string) bool { return slices.Contains(f.Profiles(), profile) }
