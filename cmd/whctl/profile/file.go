package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// File is the configuration file: top-level settings and a table [profiles.NAME]
// for each profile.
type File struct {
	Path    string
	text    []byte
	entries []Entry
	heads   []Entry // headers of the tables of profiles; they have no name and value
}

// Entry is a setting in the file with its position.
type Entry struct {
	settingKey
	Text       string // value without quotes
	line       int    // from 1
	start, end int    // byte offsets of the key and of the end of its value
}

// settingKey identifies a setting in the file. The profile is empty for top-level settings.
type settingKey struct{ profile, name string }

// profilesTable is the name of the parent table of all profiles.
const profilesTable = "profiles"

// formerNames has settings and tables of earlier versions, which are ignored.
var formerNames = []string{"keys", "signs"}

// Path returns the path of the configuration file; empty if there is no home
// directory.
func Path(env func(string) string) string {
	if path := env(EnvConfig); path != "" {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "" // services have no home directory
	}
	return filepath.Join(dir, "whctl", "config.toml")
}

// Read reads the configuration. A missing file is an empty configuration.
func Read(env func(string) string) (*File, error) {
	path := Path(env)
	if path == "" {
		return &File{}, nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cmdline.Usagef("cannot read the configuration: %s", err)
	}
	return Parse(path, text)
}

// Parse parses the text of a configuration, without the byte order mark that editors
// of Windows may add. Unknown keys are errors.
func Parse(path string, text []byte) (*File, error) {
	text, err := withoutMark(path, text)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, text: text}
	var document map[string]any
	if err := toml.Unmarshal(text, &document); err != nil {
		return nil, f.syntaxError(err)
	}
	var parser unstable.Parser
	parser.Reset(text)
	var head []string // names in the header of the current table
	for parser.NextExpression() {
		node := parser.Expression()
		names, line := keyOf(&parser, node)
		var err error
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			head = names
			err = f.addHead(names, line)
		case unstable.KeyValue:
			err = f.add(&parser, slices.Concat(head, names), line, node)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// withoutMark removes the byte order mark of a file in UTF-8. A file in UTF-16 is an error.
func withoutMark(path string, text []byte) ([]byte, error) {
	if isUTF16(text) {
		return nil, cmdline.Usagef("%s is in UTF-16; save it in UTF-8 "+
			"(in Windows PowerShell with Set-Content -Encoding utf8 instead of >)", path)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), nil
}

// isUTF16 reports whether a text is in UTF-16, with a byte order mark or by the zero byte of its
// first character.
func isUTF16(text []byte) bool {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return true
	}
	return len(text) > 1 && (text[0] == 0) != (text[1] == 0)
}

// syntaxError adds the position to an error of the TOML parser.
func (f *File) syntaxError(err error) error {
	message := strings.TrimPrefix(err.Error(), "toml: ")
	if decodeErr, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := decodeErr.Position()
		return cmdline.Usagef("%s:%d:%d: %s", f.Path, line, column, message)
	}
	return cmdline.Usagef("%s: %s", f.Path, message)
}

// keyOf returns the key of an expression and its line.
func keyOf(parser *unstable.Parser, node *unstable.Node) (names []string, line int) {
	for parts := node.Key(); parts.Next(); {
		part := parts.Node()
		names = append(names, string(part.Data))
		line = parser.Shape(part.Raw).Start.Line
	}
	return names, line
}

// addHead adds the header of a table. [profiles] alone is allowed.
func (f *File) addHead(names []string, line int) error {
	if slices.Contains(formerNames, names[0]) {
		return nil
	}
	if names[0] != profilesTable || len(names) > 2 {
		return cmdline.Usagef("%s:%d: unknown table [%s]; profiles are tables such as [profiles.prod]",
			f.Path, line, strings.Join(names, "."))
	}
	if len(names) == 2 {
		f.heads = append(f.heads, Entry{settingKey: settingKey{profile: names[1]}, line: line})
	}
	return nil
}

// add adds a key and its value.
func (f *File) add(parser *unstable.Parser, names []string, line int, node *unstable.Node) error {
	if slices.Contains(formerNames, names[0]) {
		return nil
	}
	key := settingKey{name: names[0]}
	ofProfile := len(names) == 3 && names[0] == profilesTable
	if ofProfile {
		key = settingKey{profile: names[1], name: names[2]}
	}
	s, ok := LookupSetting(key.name)
	isNested := !ofProfile && len(names) > 1
	if !ok || s.OfProfiles != ofProfile || isNested {
		return f.unknown(names, line)
	}
	text, ok := s.Form.textOf(parser, node.Value())
	if !ok {
		return cmdline.Usagef("%s:%d: %s must be %s", f.Path, line, key.name, s.Form.inWords())
	}
	f.entries = append(f.entries, Entry{
		settingKey: key,
		Text:       text,
		line:       line,
		start:      int(node.Raw.Offset),
		end:        int(node.Raw.Offset + node.Raw.Length),
	})
	return nil
}

// textOf returns the text of a value in the file; false if it does not have the form.
func (f *Form) textOf(parser *unstable.Parser, value *unstable.Node) (string, bool) {
	var text string
	switch {
	case value.Kind == unstable.String && !f.plain:
		text = string(value.Data)
	case value.Kind == unstable.Bool && f == YesNo, value.Kind == unstable.Integer && f == count:
		text = string(parser.Raw(value.Raw))
	default:
		return "", false
	}
	return text, f.Check(text) == nil
}

// unknown returns the error of a key that is not allowed in its table.
func (f *File) unknown(names []string, line int) error {
	name := names[len(names)-1]
	inProfile := names[0] == profilesTable
	if s, ok := LookupSetting(name); ok && s.OfProfiles && !inProfile {
		return cmdline.Usagef("%s:%d: %s belongs in the table of a profile, such as [profiles.prod]",
			f.Path, line, s.Name)
	}
	allowed := Names(func(s Setting) bool { return s.OfProfiles == inProfile })
	hint := record.DidYouMean(record.Suggest(name, allowed))
	return cmdline.Usagef("%s:%d: unknown key %q%s", f.Path, line, strings.Join(names, "."), hint)
}

// Lookup returns a setting of a profile, or a top-level setting if profile is empty; nil if it is
// not set.
func (f *File) Lookup(profile, name string) *Entry {
	key := settingKey{profile, name}
	i := slices.IndexFunc(f.entries, func(e Entry) bool { return e.settingKey == key })
	if i < 0 {
		return nil
	}
	return &f.entries[i]
}

// Profiles returns the names of the profiles in the order of the file.
func (f *File) Profiles() []string {
	var names []string
	for _, e := range slices.Concat(f.heads, f.entries) {
		if e.profile != "" && !slices.Contains(names, e.profile) {
			names = append(names, e.profile)
		}
	}
	return names
}

// Has reports whether the file has a profile.
func (f *File) Has(profile string) bool { return slices.Contains(f.Profiles(), profile) }

// ReadWith reads the configuration and fails if it does not have the profile.
func ReadWith(env func(string) string, profile string) (*File, error) {
	f, err := Read(env)
	if err != nil {
		return nil, err
	}
	return f, f.mustHave(profile)
}

func (f *File) mustHave(profile string) error {
	if f.Has(profile) {
		return nil
	}
	similar := record.Suggest(profile, f.Profiles())
	hint := record.DidYouMeanOr(similar, "list them with whctl profile list")
	return cmdline.Usagef("there is no profile %q%s", profile, hint)
}

// The file is edited by hand too, so changes preserve comments and order: they
// replace a value, add a line or remove lines. The result is parsed again before
// it is saved.

// Set returns the file with a changed setting of a profile, or a changed top-level
// setting if profile is empty.
func (f *File) Set(profile string, s Setting, text string) (*File, error) {
	text = s.Form.completed(text)
	want := f.contents()
	want[settingKey{profile, s.Name}] = text
	line := s.Name + " = " + s.Form.inFile(text)
	return f.become(f.withLine(profile, s.Name, line), want)
}

// Use returns the file with a profile as the default.
func (f *File) Use(profile string) (*File, error) {
	s, _ := LookupSetting("profile")
	return f.Set("", s, profile)
}

// withLine returns the text with the line of a setting added or replaced.
func (f *File) withLine(profile, name, line string) []byte {
	if e := f.Lookup(profile, name); e != nil {
		return slices.Concat(f.text[:e.start], []byte(f.keyPrefix(e)+line), f.text[e.end:])
	}
	lines := f.lines()
	if profile == "" {
		return f.atTop(lines, line)
	}
	for _, head := range f.heads {
		if head.profile == profile {
			return join(slices.Insert(lines, f.lastLine(head), line))
		}
	}
	lastDotted := f.lastLine(Entry{settingKey: settingKey{profile: profile}})
	if lastDotted > 0 { // the profile only has dotted keys at the top of the file
		return join(slices.Insert(lines, lastDotted, profileKey(profile)+"."+line))
	}
	if len(lines) > 0 && lines[len(lines)-1] != "" {
		lines = append(lines, "")
	}
	return join(append(lines, "["+profileKey(profile)+"]", line))
}

// keyPrefix returns the start of a dotted key up to its last dot; empty for a simple key.
func (f *File) keyPrefix(e *Entry) string {
	key, _, _ := strings.Cut(string(f.text[e.start:e.end]), "=")
	return key[:strings.LastIndex(key, ".")+1]
}

// atTop returns the text with a line added after the top-level settings.
func (f *File) atTop(lines []string, line string) []byte {
	last := f.lastLine(Entry{})
	if last == 0 && len(lines) > 0 {
		return join(slices.Insert(lines, 0, line, ""))
	}
	return join(slices.Insert(lines, last, line))
}

// lastLine returns the number of the last line with a key of a profile's table; that of the header
// if it has no keys.
func (f *File) lastLine(head Entry) int {
	last := head.line
	for _, e := range f.entries {
		if e.profile == head.profile && e.line > head.line {
			last = max(last, e.line)
		}
	}
	return last
}

// Without returns the file without a profile. The default is removed if it is this
// profile.
func (f *File) Without(profile string) (*File, error) {
	want := f.contents()
	removed := make(map[int]bool) // numbers of lines
	for _, e := range slices.Concat(f.heads, f.entries) {
		isDefault := e.settingKey == settingKey{name: "profile"} && e.Text == profile
		if e.profile == profile || isDefault {
			removed[e.line] = true
			delete(want, e.settingKey)
		}
	}
	var kept []string
	for i, line := range f.lines() {
		if !removed[i+1] {
			kept = append(kept, line)
		}
	}
	return f.become(join(kept), want)
}

// contents returns the values of all settings.
func (f *File) contents() map[settingKey]string {
	texts := make(map[settingKey]string)
	for _, e := range f.entries {
		texts[e.settingKey] = e.Text
	}
	return texts
}

// become parses a changed text and fails if its contents are not as expected. The
// file then has a layout that can only be edited by hand.
func (f *File) become(text []byte, want map[settingKey]string) (*File, error) {
	changed, err := Parse(f.Path, text)
	if err != nil || !maps.Equal(changed.contents(), want) {
		return nil, fmt.Errorf(
			"cannot make this change in %s because of its layout; edit it with whctl config edit", f.Path)
	}
	return changed, nil
}

// Save replaces the file on disk.
func (f *File) Save() error {
	if f.Path == "" {
		return ErrNoConfigDir
	}
	return output.ReplaceFile(f.Path, f.text, output.PrivateFile)
}

// ErrNoConfigDir is returned if there is no directory for the configuration.
var ErrNoConfigDir = errors.New("there is no home directory for the configuration; set " + EnvConfig +
	" to the path of a file")

// lines returns the lines of the file without line breaks.
func (f *File) lines() []string {
	text := strings.TrimSuffix(strings.ReplaceAll(string(f.text), "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func join(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// profileKey returns the name of a profile's table.
func profileKey(profile string) string { return profilesTable + "." + profile }

// CheckName returns an error if a profile name would need quotes in a shell or in
// TOML.
func CheckName(name string) error {
	if !bareKey.MatchString(name) {
		return cmdline.Usagef("a profile name consists of letters, digits, - and _, not %q", name)
	}
	return nil
}
