// Package kinds reads record kinds from files and writes such files. A file describes
// tables and views of the ERP that are not built in; a mistake in a kind leaves only that
// kind out. A built-in kind is left out as well: its entry may require a role for it.
package kinds

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Declared is a kind as a file declares it.
type Declared struct {
	record.Kind

	Comments []string          // lines before the kind
	Notes    map[string]string // comments after fields, by the field's name
	Omitted  []string          // comment lines after the fields, or anywhere in the kind, for columns without one

	place place
	wrong bool // it has a mistake, and is not served
}

// place is the place of a kind in the files.
type place struct {
	file string

	// lines are the lines of the members, by name, and of the fields, as fields.NAME; "" is the kind.
	lines map[string]int
}

// Problem is a mistake in a file.
type Problem struct {
	File    string
	Line    int // 0 for the whole file
	Text    string
	Warning bool // the kind is served nevertheless
}

// String returns the problem with its file and line.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Set is the content of files. Its zero value has no kinds of files.
type Set struct {
	Declared []*Declared // all kinds of the files, in their order, even with mistakes
	Problems []Problem
	Files    []string // the files that were read
	registry *record.Registry

	// mistaken are the names of built-in kinds, in lower case, that are left out because files have
	// mistakes in their entries, or may have entries of them that cannot be read.
	mistaken map[string]bool
}

// Registry returns the built-in kinds, extended by the files, and the other kinds of the
// files that have no mistakes.
func (s *Set) Registry() *record.Registry {
	if s == nil || s.registry == nil {
		return record.Builtin()
	}
	return s.registry
}

// Mistaken returns the built-in kinds that are left out because of mistakes in files.
func (s *Set) Mistaken() *record.Registry {
	return record.Builtin().Filter(func(k *record.Kind) bool { return s != nil && !s.isServed(k) })
}

// MistakenNames returns the names of Mistaken, separated by commas.
func (s *Set) MistakenNames() string {
	return strings.Join(record.Texts(s.Mistaken().Kinds(), func(k *record.Kind) string { return k.Name }), ", ")
}

// Without returns the set without the kinds that match, which is s itself if none does.
func (s *Set) Without(match func(*record.Kind) bool) *Set {
	registry := s.Registry()
	filtered := registry.Filter(func(k *record.Kind) bool { return !match(k) })
	if filtered == registry {
		return s
	}
	if s == nil {
		return &Set{registry: filtered}
	}
	set := *s
	set.registry = filtered
	return &set
}

// Declares reports whether a file declares a kind, without mistakes.
func (s *Set) Declares(name string) bool {
	isServed := func(d *Declared) bool { return !d.wrong && strings.EqualFold(d.Name, name) }
	return s != nil && slices.ContainsFunc(s.Declared, isServed)
}

// Replaces reports whether the set can replace another one: it has kinds, or there is no
// mistake that explains why it has none.
func (s *Set) Replaces(other *Set) bool {
	return s.Served() > 0 || s == nil || len(s.Problems) == 0 || other.Served() == 0
}

// Served returns the number of kinds of the files that have no mistakes.
func (s *Set) Served() (n int) {
	if s == nil {
		return 0
	}
	for _, d := range s.Declared {
		if !d.wrong {
			n++
		}
	}
	return n
}

// Extension is the extension of the files in a directory.
const Extension = ".toml"

// Load reads the files, and the files with Extension in the directories. Paths may be
// patterns as in filepath.Match. It never fails: the problems are part of the result.
func Load(paths ...string) *Set {
	s := new(Set)
	for _, path := range matching(paths) {
		for _, file := range s.filesOf(path) {
			if slices.Contains(s.Files, file) {
				continue // named twice, for instance by its directory as well
			}
			data, err := readFile(file)
			s.unreadable(file, err)
			s.Files = append(s.Files, file)
			s.add(parse(file, data))
		}
	}
	s.build()
	return s
}

// filesOf returns the path of a file itself, or the files of a directory.
func (s *Set) filesOf(path string) []string {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}
	}
	entries, err := os.ReadDir(path)
	s.unreadable(path, err)
	var files []string
	for _, entry := range entries {
		if strings.EqualFold(filepath.Ext(entry.Name()), Extension) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files
}

// matching returns the paths with patterns replaced by their matches. A pattern without
// matches stays, so that it is reported.
func matching(paths []string) []string {
	var matches []string
	for _, path := range paths {
		ofPath, err := filepath.Glob(path)
		if err != nil || len(ofPath) == 0 {
			ofPath = []string{path}
		}
		matches = append(matches, ofPath...)
	}
	return matches
}

// maxSize is the maximum size of a file, a hundred times that of 480 kinds.
const maxSize = 64 << 20

// readFile reads a regular file. Reading a pipe or a device could wait or continue for ever.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return os.ReadFile(path) // fails with the reason
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > maxSize {
		return nil, fmt.Errorf("it has more than %d MiB", maxSize>>20)
	}
	data, err := os.ReadFile(path)
	if bytes.IndexByte(data, 0) >= 0 { // no name in it could be found
		return nil, errors.New("it is not UTF-8 but probably UTF-16, which PowerShell writes; save it as UTF-8")
	}
	return data, err
}

// unreadable adds the problem of a file or directory that cannot be read, if err is not nil. It may
// require roles for any of the built-in kinds, so that all are left out.
func (s *Set) unreadable(path string, err error) {
	if err == nil {
		return
	}
	if !matchesNothing(path) {
		for _, kind := range record.Kinds() {
			s.leaveOut(kind.Name)
		}
	}
	if pathError, ok := err.(*fs.PathError); ok {
		err = pathError.Err // the problem names the file
	}
	s.Problems = append(s.Problems, Problem{File: path, Text: "cannot be read: " + err.Error()})
}

// matchesNothing reports whether a path is a pattern without matches in a directory that can be
// read, so that it has no files.
func matchesNothing(path string) bool {
	const special = "*?["
	_, invalid := filepath.Match(path, "")
	_, missing := os.Lstat(path)
	if !strings.ContainsAny(path, special) || invalid != nil || missing == nil {
		return false
	}
	dir := filepath.Dir(path)
	for strings.ContainsAny(dir, special) {
		dir = filepath.Dir(dir)
	}
	_, err := os.ReadDir(dir)
	return err == nil
}

// add adds the content of a file.
func (s *Set) add(r *reader) {
	s.Declared = append(s.Declared, r.kinds...)
	s.Problems = append(s.Problems, r.problems...)
	for _, name := range r.doubtful {
		s.leaveOut(name)
	}
}

// leaveOut leaves out a built-in kind.
func (s *Set) leaveOut(name string) {
	if s.mistaken == nil {
		s.mistaken = make(map[string]bool)
	}
	s.mistaken[strings.ToLower(name)] = true
}

// isServed reports whether no mistake leaves a kind out.
func (s *Set) isServed(k *record.Kind) bool { return !s.mistaken[strings.ToLower(k.Name)] }

// build makes the registry of the kinds without mistakes.
func (s *Set) build() {
	if len(s.Declared)+len(s.mistaken) == 0 {
		return
	}
	b := builder{
		Set:      s,
		all:      record.Kinds(),
		taken:    make(map[string]string),
		families: map[string]string{"webhooks": "webhooks is the family of the service's own events"},
	}
	for _, name := range Taken() {
		b.taken[strings.ToLower(name)] = "the service has an operation or a type of this name"
	}
	for _, d := range s.Declared {
		b.add(d)
	}
	slices.SortStableFunc(s.Problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	registry, err := record.NewRegistry(b.all...)
	if err != nil { // a mistake that the checks do not know
		isDeclared := func(k *record.Kind) bool {
			return slices.ContainsFunc(s.Declared, func(d *Declared) bool { return strings.EqualFold(d.Name, k.Name) })
		}
		s.registry = record.Builtin().Filter(func(k *record.Kind) bool { return s.isServed(k) && !isDeclared(k) })
		s.Problems = append(s.Problems, Problem{
			File: s.Declared[0].place.file,
			Text: "no kind of the files is served: " + err.Error(),
		})
		return
	}
	s.registry = registry.Filter(s.isServed)
}

// builder collects the kinds of a registry.
type builder struct {
	*Set
	all   []record.Kind
	taken map[string]string // names of kinds and operations in lower case, with the reasons

	families map[string]string // families of events, with the reasons why other kinds cannot have them
}

// problem adds a mistake in a member of a kind, which is not served then.
func (b *builder) problem(d *Declared, member, format string, args ...any) {
	line, ok := d.place.lines[member]
	if !ok {
		line = d.place.lines[""]
	}
	d.wrong = true
	b.Problems = append(b.Problems, Problem{File: d.place.file, Line: line, Text: fmt.Sprintf(format, args...)})
}

// identifier is the form of the names of kinds and fields, which are names in TypeScript
// and C# too (package metadata escapes reserved words).
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

const maxName = 128

// add checks a kind and adds it.
func (b *builder) add(d *Declared) {
	d.Role = strings.ToLower(d.Role)
	d.Capture = strings.ToLower(d.Capture)
	d.Events = strings.ToLower(d.Events)

	kind := d.Kind
	index := slices.IndexFunc(b.all, func(k record.Kind) bool { return strings.EqualFold(k.Name, d.Name) })
	isBuiltin := index >= 0 && index < len(record.Kinds())
	reason := b.clash(d.Kind)
	switch {
	case isBuiltin && b.taken[strings.ToLower(d.Name)] == "":
		kind = b.extended(d, b.all[index])
	case reason != "":
		b.problem(d, "", "%s cannot be the name of a kind: %s; choose another name and set source", d.Name, reason)
	case !identifier.MatchString(d.Name) || len(d.Name) > maxName:
		b.problem(d, "", "%q cannot be the name of a kind: use letters, digits and _, and set source", d.Name)
	}
	if len(kind.Fields) == 0 && !d.wrong {
		near := record.DidYouMean(similarBuiltin(d.Name))
		b.problem(d, "", "%s has no fields; list its columns in [%s.fields]%s", d.Name, d.Name, near)
	}
	for _, f := range d.Fields {
		if !identifier.MatchString(f.Name) || len(f.Name) > maxName {
			b.problem(d, "fields."+f.Name, "%q cannot be the name of a field: use letters, digits and _, "+
				"and name the column: NAME = { type = %q, column = %q }", f.Name, f.TypeName(), f.Name)
		}
	}
	for _, m := range append(kind.Check(), captureMistakes(kind)...) {
		member := m.Member
		if member == "fields" {
			member += "." + m.Field
		}
		b.problem(d, member, "%s", m.Text)
	}
	b.takeFamily(d, kind)
	b.warn(d, kind)
	b.takeNames(d, kind)

	if d.wrong {
		b.leaveOutBuiltin(d)
		return
	}
	if isBuiltin {
		b.all[index] = kind
		return
	}
	kind.Area = cmp.Or(kind.Area, "Own kinds")
	kind.Summary = cmp.Or(kind.Summary, "Records of "+kind.Source())
	b.all = append(b.all, kind)
}

// leaveOutBuiltin leaves out the built-in kinds that a mistaken entry means: the entry may require a
// role, or map the kind to a view with fewer rows. A name in quotes may have that of a kind in it,
// such as "dbo.DB_Main". An entry without fields or a source is that of a
// built-in kind, possibly with a mistyped name.
func (b *builder) leaveOutBuiltin(d *Declared) {
	if builtin, ok := record.Builtin().Lookup(d.Name); ok {
		b.leaveOut(builtin.Name)
		return
	}
	for _, name := range builtinIn(d.Name) {
		b.leaveOut(name)
	}
	if len(d.Fields) > 0 || d.Table != "" {
		return
	}
	for _, name := range similarBuiltin(d.Name) {
		b.leaveOut(name)
	}
}

// similarBuiltin returns the names of built-in kinds that are similar to a name.
func similarBuiltin(name string) []string {
	names := record.Texts(record.Builtin().Kinds(), func(k *record.Kind) string { return k.Name })
	return record.Suggest(strings.TrimSpace(name), names)
}

// takeFamily checks the family of a kind's events, which other kinds cannot have then.
func (b *builder) takeFamily(d *Declared, kind record.Kind) {
	if d.Events == "" {
		return
	}
	if reason := b.families[d.Events]; reason != "" {
		b.problem(d, "events", "events: %s", reason)
		return
	}
	declaration := Problem{File: d.place.file, Line: d.place.lines["events"], Text: kind.Name}
	b.families[d.Events] = fmt.Sprintf("the family %s is also declared in %s", d.Events, declaration)
}

// takeNames reserves the names of a kind and its operation.
func (b *builder) takeNames(d *Declared, kind record.Kind) {
	declaration := Problem{File: d.place.file, Line: d.place.lines[""], Text: kind.Name}
	for _, name := range []string{kind.Name, kind.Operation()} {
		key := strings.ToLower(name)
		if b.taken[key] == "" {
			b.taken[key] = fmt.Sprintf("also declared in %s", declaration)
		}
	}
}

// warn adds the warnings about a kind, which is served all the same.
func (b *builder) warn(d *Declared, kind record.Kind) {
	warning := func(member, text string) {
		b.Problems = append(b.Problems, Problem{
			File:    d.place.file,
			Line:    d.place.lines[member],
			Text:    text,
			Warning: true,
		})
	}
	if member := withoutEffect(d.Kind); member != "" {
		warning(member, member+` has no effect, because the changes of the kind are never captured; `+
			`set capture = "asked", or "always"`)
	}
	if field := changedField(d.Kind, kind); field != "" {
		warning("fields."+field, field+ChangedNote)
	}
}

// clash returns the reason why a kind cannot have its name, empty if it can.
func (b *builder) clash(k record.Kind) string {
	for _, name := range []string{k.Name, k.Operation()} {
		if reason := b.taken[strings.ToLower(name)]; reason != "" {
			return reason
		}
		if builtin, ok := record.Builtin().Lookup(name); ok && !strings.EqualFold(builtin.Name, k.Name) {
			return "it is the operation of the built-in kind " + builtin.Name
		}
	}
	return ""
}

// extended returns a built-in kind with the members and the additional fields of a file.
func (b *builder) extended(d *Declared, kind record.Kind) record.Kind {
	kind.Area = cmp.Or(d.Area, kind.Area)
	kind.Summary = cmp.Or(d.Summary, kind.Summary)
	kind.Table = cmp.Or(d.Table, kind.Table)
	kind.Key = d.Key
	kind.Role = d.Role
	kind.Stamp = d.Stamp
	kind.Index = d.Index
	kind.Capture = d.Capture
	kind.Events = d.Events
	kind.Before = d.Before
	kind.CaptureFields = d.CaptureFields
	kind.Ignore = d.Ignore

	kind.Fields = slices.Clone(kind.Fields)
	for _, f := range d.Fields {
		index := slices.IndexFunc(kind.Fields, func(field record.Field) bool {
			return strings.EqualFold(field.Name, f.Name)
		})
		if index < 0 {
			kind.Fields = append(kind.Fields, f)
			continue
		}
		builtin := &kind.Fields[index]
		if builtin.TypeName() != f.TypeName() {
			b.problem(d, "fields."+f.Name, "%s.%s is built in as %s and cannot be %s; remove it from the file",
				kind.Name, builtin.Name, builtin.TypeName(), f.TypeName())
			continue
		}
		builtin.Column = f.Column
	}
	return kind
}
