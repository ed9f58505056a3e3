package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// identifier returns a GUID that depends only on a name, as version 5 of RFC 9562 has it.
func identifier(name string) string {
	space := []byte("github.com/bizhook/whd installer")
	sum := sha1.Sum(append(space, name...))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	return strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]))
}

// installerNumber returns the version that Windows compares, for the version of a package:
// three numbers of at most 255, 255 and 65535. The third has room for pre-releases before the
// release and for commits after it, so that later ones are greater: 1.2.3~rc.2 is 1.2.3302,
// 1.2.3 is 1.2.3500 and 1.2.3+7.gabcdef is 1.2.3507. Commits after a pre-release have its number,
// over which the installer upgrades as well: with greater ones, they would exceed the next
// pre-release.
func installerNumber(version string) (string, error) {
	base, extra, _ := strings.Cut(version, "+")
	base, before, isPre := strings.Cut(base, "~")
	parts := strings.Split(base, ".")
	var numbers [3]int
	for i := range numbers {
		if i >= len(parts) {
			break
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return "", fmt.Errorf("the version %q does not start with numbers", version)
		}
		numbers[i] = n
	}
	if numbers == [3]int{} {
		return buildNumber(before)
	}

	const (
		perPatch = 1000
		release  = 500 // the numbers below are for pre-releases
	)
	if numbers[0] > 255 || numbers[1] > 255 || numbers[2] > 64 {
		return "", fmt.Errorf("the version %q exceeds 255.255.64, the greatest of the installer", version)
	}
	place := release
	commits, _, _ := strings.Cut(extra, ".")
	if n, err := strconv.Atoi(commits); err == nil {
		place = min(release+n, perPatch-1)
	}
	if isPre {
		place = preRelease(before)
	}
	return fmt.Sprintf("%d.%d.%d", numbers[0], numbers[1], numbers[2]*perPatch+place), nil
}

// preRelease returns the place of a pre-release such as rc.2, by its name and number.
func preRelease(text string) int {
	names := []string{"alpha", "beta", "pre", "rc"}
	name := strings.TrimRight(text, ".0123456789")
	number, _ := strconv.Atoi(strings.TrimLeft(text[len(name):], "."))
	return max(slices.Index(names, name), 0)*100 + min(number, 99)
}

// buildNumber returns the number of a commit without a version from its time, which is the first
// part of its text: half hours since 2026, below all releases. Commits of the same half hour have
// the same number, over which the installer upgrades as well.
func buildNumber(text string) (string, error) {
	stamp, _, _ := strings.Cut(text, ".")
	built, err := time.Parse("20060102150405", stamp)
	if err != nil {
		return "", fmt.Errorf("the version %q has neither a number nor a time", text)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	n := int(built.Sub(start) / (30 * time.Minute))
	return fmt.Sprintf("0.0.%d", min(max(n, 0), 65535)), nil
}

// Elements of the descriptor of wixl.
type wixDirectory struct {
	XMLName     xml.Name        `xml:"Directory"`
	ID          string          `xml:"Id,attr"`
	Name        string          `xml:"Name,attr"`
	Directories []*wixDirectory `xml:",omitempty"`
	Components  []wixComponent  `xml:"Component"`
}

type wixComponent struct {
	ID    string  `xml:"Id,attr"`
	GUID  string  `xml:"Guid,attr"`
	Win64 string  `xml:"Win64,attr"`
	File  wixFile `xml:"File"`
}

type wixFile struct {
	ID      string `xml:"Id,attr"`
	Name    string `xml:"Name,attr"`
	Source  string `xml:"Source,attr"`
	KeyPath string `xml:"KeyPath,attr"`
}

// manual returns the descriptor of files to install in addition to the programs.
func manual(members []member) ([]byte, error) {
	top := &wixDirectory{}
	directories := map[string]*wixDirectory{".": top}
	var group strings.Builder
	for _, m := range members {
		dir := directory(directories, path.Dir(m.name))
		id := "f" + strings.ReplaceAll(identifier(m.name), "-", "")
		dir.Components = append(dir.Components, wixComponent{
			ID:    id,
			GUID:  identifier(m.name),
			Win64: "yes",
			File:  wixFile{ID: id, Name: path.Base(m.name), Source: m.name, KeyPath: "yes"},
		})
		fmt.Fprintf(&group, "      <ComponentRef Id=\"%s\"></ComponentRef>\n", id)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString(`<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
  <Fragment>
    <DirectoryRef Id="INSTALLDIR">
`)
	e := xml.NewEncoder(&b)
	e.Indent("      ", "  ")
	for _, d := range top.Directories {
		if err := e.Encode(d); err != nil {
			return nil, err
		}
	}
	for _, c := range top.Components {
		if err := e.EncodeElement(c, xml.StartElement{Name: xml.Name{Local: "Component"}}); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n    </DirectoryRef>\n    <ComponentGroup Id=\"Manual\">\n")
	b.WriteString(group.String())
	b.WriteString("    </ComponentGroup>\n  </Fragment>\n</Wix>\n")
	return b.Bytes(), nil
}

// directory returns the element of a directory, and creates it and its parents as needed.
func directory(directories map[string]*wixDirectory, name string) *wixDirectory {
	if d, ok := directories[name]; ok {
		return d
	}
	d := &wixDirectory{ID: "d" + strings.ReplaceAll(identifier(name), "-", ""), Name: path.Base(name)}
	directories[name] = d
	parent := directory(directories, path.Dir(name))
	parent.Directories = append(parent.Directories, d)
	return d
}

// summaryFormat starts the properties of an installer's summary: the id of their format in the
// byte order of OLE.
var summaryFormat = []byte{
	0xe0, 0x85, 0x9f, 0xf2, 0xf9, 0x4f, 0x68, 0x10, 0xab, 0x91, 0x08, 0x00, 0x2b, 0x27, 0xb3, 0xd9,
}

// setTimes replaces the times in an installer's summary, which are those of its creation, so that
// the build is reproducible.
func setTimes(file string, at time.Time) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	start := bytes.Index(content, summaryFormat)
	if start < 0 {
		return fmt.Errorf("%s has no summary", file)
	}
	// A time has the type 64 and counts steps of 100 ns since 1601.
	const (
		timeType   = 64
		unixEpoch  = 11_644_473_600
		perSecond  = 10_000_000
		maxSummary = 1024
	)
	count := 0
	summary := content[start:min(start+maxSummary, len(content))]
	for i := 0; i+12 <= len(summary); i += 4 {
		isTime := binary.LittleEndian.Uint32(summary[i:]) == timeType
		value := binary.LittleEndian.Uint64(summary[i+4:])
		// Between 2000 and 2300.
		if !isTime || value < 125_911_584_000_000_000 || value > 220_000_000_000_000_000 {
			continue
		}
		binary.LittleEndian.PutUint64(summary[i+4:], uint64((at.Unix()+unixEpoch)*perSecond))
		count++
	}
	if count == 0 {
		return errors.New("the summary of " + file + " has no time")
	}
	return os.WriteFile(file, content, 0o644)
}
