package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// Topic is a section at the end of a manual page, with lines that are not filled.
type Topic struct {
	Name  string
	Print func(io.Writer)
}

// PrintManual writes the whole help of a program as one page for man(1).
func PrintManual(app *cli.App, topics []Topic) error {
	page := &manual{name: app.Name}
	page.macro("TH", strings.ToUpper(page.name), "1", "", page.name+" "+Version())
	page.section("NAME")
	page.text(page.name + ` \- ` + roff(app.Usage))
	page.section("SYNOPSIS")
	page.text(`\fB` + page.name + `\fR \fICOMMAND\fR [\fIflags\fR]`)
	page.section("COMMANDS")
	page.commands(app.Commands, "")
	page.section("GLOBAL FLAGS")
	page.flags(app.Flags)
	for _, t := range topics {
		page.section(strings.ToUpper(t.Name))
		page.verbatim(t.Print)
	}
	_, err := io.WriteString(app.Writer, page.out.String())
	return err
}

// manual is a page in the macro language man(7).
type manual struct {
	name string
	out  strings.Builder
}

// roff escapes text so that it is printed literally.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}

func (m *manual) macro(name string, args ...string) {
	m.out.WriteString("." + name)
	for _, arg := range args {
		fmt.Fprintf(&m.out, ` "%s"`, strings.ReplaceAll(arg, `"`, `\(dq`))
	}
	m.out.WriteByte('\n')
}

func (m *manual) section(title string) { m.macro("SH", roff(title)) }

func (m *manual) text(text string) { m.out.WriteString(text + "\n") }

// commands writes all commands, except groups and hidden ones, with their flags
// and examples.
func (m *manual) commands(commands []*cli.Command, path string) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		name := strings.TrimSpace(path + " " + c.Name)
		if len(c.Subcommands) > 0 {
			m.commands(c.Subcommands, name)
			continue
		}
		m.macro("SS", roff(strings.TrimSpace(m.name+" "+name+" "+c.ArgsUsage)))
		m.text(roff(c.Usage))
		m.flags(c.Flags)
		if c.Description != "" {
			m.verbatim(func(w io.Writer) { fmt.Fprintln(w, c.Description) })
		}
	}
}

func (m *manual) flags(flags []cli.Flag) {
	for _, f := range flags {
		if !Visible(f) {
			continue
		}
		names, usage := FlagHelp(f)
		m.macro("TP")
		m.text(`\fB` + roff(names) + `\fR`)
		m.text(roff(usage))
	}
}

// verbatim writes lines without filling them.
func (m *manual) verbatim(print func(io.Writer)) {
	var text strings.Builder
	print(&text)
	m.text(".PP\n.nf")
	for line := range strings.Lines(text.String()) {
		m.text(roff(strings.TrimRight(line, "\n")))
	}
	m.text(".fi")
}
