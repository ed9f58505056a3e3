package profile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// The file belongs to people, so changes leave comments and order alone: they
// replace a value, add a line or take lines away. What comes out is read again
// before it is kept.

// Set changes a setting of a profile, or one at the top of the file.
func (f *File) Set(profile string, s Setting, text string) (*File, error) {
	want := f.contents()
	want[profile+"\x00"+s.Name] = text
	line := s.Name + " = " + s.Form.inFile(text)
	return f.become(f.withLine(profile, s.Name, line), want)
}

// withLine is the text with a key's line, in place of the one that it has.
func (f *File) withLine(profile, key, line string) []byte {
	if e := f.Lookup(profile, key); e != nil {
		if dotted := bytes.LastIndexByte(bytes.SplitN(f.text[e.start:e.end], []byte("="), 2)[0], '.'); dotted >= 0 {
			line = string(f.text[e.start:e.start+dotted+1]) + line
		}
		return slices.Concat(f.text[:e.start], []byte(line), f.text[e.end:])
	}
	lines := f.lines()
	if profile == "" {
		return f.atTop(lines, line)
	}
	for _, head := range f.heads {
		if head.profile == profile {
			at := f.lastLine(head)
			return join(slices.Insert(lines, at, line))
		}
	}
	if at := f.lastLine(Entry{profile: profile}); at > 0 { // by dotted keys alone, at the top of the file
		return join(slices.Insert(lines, at, profileKey(profile)+"."+line))
	}
	if len(lines) > 0 && lines[len(lines)-1] != "" {
		lines = append(lines, "")
	}
	return join(append(lines, "["+profileKey(profile)+"]", line))
}

// atTop is the text with a line behind those of the file's top.
func (f *File) atTop(lines []string, line string) []byte {
	last := f.lastLine(Entry{})
	if last == 0 && len(lines) > 0 {
		return join(slices.Insert(lines, 0, line, ""))
	}
	return join(slices.Insert(lines, last, line))
}

// lastLine is the number of the last line with a key of a profile's table.
func (f *File) lastLine(head Entry) int {
	last := head.line
	for _, e := range f.entries {
		if e.profile == head.profile && e.line > head.line {
			last = max(last, e.line)
		}
	}
	return last
}

// Without is the file Without a profile, and Without its choice.
func (f *File) Without(profile string) (*File, error) {
	want := f.contents()
	gone := map[int]bool{}
	for _, e := range slices.Concat(f.heads, f.entries) {
		if e.profile == profile || e.profile == "" && e.key == "profile" && e.Text == profile {
			gone[e.line] = true
			delete(want, e.profile+"\x00"+e.key)
		}
	}
	var kept []string
	for i, line := range f.lines() {
		if !gone[i+1] {
			kept = append(kept, line)
		}
	}
	return f.become(join(kept), want)
}

// contents are the keys of all profiles with their values.
func (f *File) contents() map[string]string {
	all := make(map[string]string)
	for _, e := range f.entries {
		all[e.profile+"\x00"+e.key] = e.Text
	}
	return all
}

// become reads the text that a change has made, and refuses one that does not
// say what was meant: the file is then written in a way that only its owner can
// change.
func (f *File) become(text []byte, want map[string]string) (*File, error) {
	changed, err := Parse(f.Path, text)
	if err != nil || !maps.Equal(changed.contents(), want) {
		return nil, fmt.Errorf("%s is written in a way that this change cannot be made in; whctl config edit opens it", f.Path)
	}
	return changed, nil
}

// Save writes the file in place of the old one.
func (f *File) Save() error {
	if f.Path == "" {
		return ErrNoPlace
	}
	return output.ReplaceFile(f.Path, f.text, output.PrivateFile)
}

// ErrNoPlace is the error of saving where there is no directory for it.
var ErrNoPlace = errors.New("there is no home directory for the configuration; " + EnvConfig + " can name a file")

// lines are the lines of the file without their ends.
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

// profileKey is the name of a profile's table.
func profileKey(profile string) string { return profilesTable + "." + profile }

// CheckName keeps names to what can be typed without quotes anywhere.
func CheckName(name string) error {
	if !bareKey.MatchString(name) {
		return cmdline.Usagef("a profile's name is made of letters, digits, - and _, not %q", name)
	}
	return nil
}
