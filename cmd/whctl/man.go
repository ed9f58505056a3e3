package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// man implements whctl man: the whole help as one page for man(1).
func man(c *cli.Context) error {
	page := &manual{name: c.App.Name}
	page.macro("TH", strings.ToUpper(page.name), "1", "", page.name+" "+cmdline.Version())
	page.section("NAME")
	page.text(page.name + ` \- ` + roff(c.App.Usage))
	page.section("SYNOPSIS")
	page.text(`\fB` + page.name + `\fR \fICOMMAND\fR [\fIflags\fR]`)
	page.section("COMMANDS")
	page.commands(c.App.Commands, "")
	page.section("GLOBAL FLAGS")
	page.flags(c.App.Flags)
	for _, t := range topics() {
		page.section(strings.ToUpper(t.name))
		page.verbatim(t.write)
	}
	_, err := io.WriteString(c.App.Writer, page.out.String())
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
		if !cmdline.Visible(f) {
			continue
		}
		names, usage := cmdline.FlagHelp(f)
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
