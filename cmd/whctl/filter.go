package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// readFilters reads --where and --filter-json.
func (p *program) readFilters(c *cli.Context, q *client.Query, s *profile.Settings) error {
	reader := filter.Reader{Kind: q.Kind, Now: p.now().In(s.Zone())}
	conditions, err := p.conditions(c.StringSlice("where"))
	var filters []client.Filter
	if err == nil {
		filters, err = reader.ParseAll(conditions)
	}
	for _, one := range filters {
		if err == nil {
			q.Where, err = filter.Append(q.Where, one)
		}
	}
	if err != nil {
		return fmt.Errorf("--where %w", err)
	}
	if !c.IsSet("filter-json") {
		if c.Bool("unchecked") {
			return errors.New("--unchecked goes with --filter-json only")
		}
		return nil
	}
	text, err := p.argument(c.String("filter-json"))
	if err == nil {
		err = reader.ParseJSON(q, text, c.Bool("unchecked"))
	}
	if err != nil {
		return fmt.Errorf("--filter-json: %w", err)
	}
	return nil
}

// conditions are those of --where, and of the files that it names, in which
// each line is one. Empty lines and those that begin with # are left out.
func (p *program) conditions(texts []string) ([]string, error) {
	var all []string
	for _, text := range texts {
		if !strings.HasPrefix(text, "@") {
			all = append(all, text)
			continue
		}
		content, err := p.argument(text)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(content) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				all = append(all, line)
			}
		}
	}
	return all, nil
}

// maxArgument keeps a wrong file from being read whole.
const maxArgument = 4 << 20

// argument is the text of an argument, which may be that of a file: @FILE, or @-
// for standard input.
func (p *program) argument(text string) (string, error) {
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return text, nil
	}
	from := p.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		from = file
	}
	content, err := io.ReadAll(io.LimitReader(from, maxArgument))
	return strings.TrimPrefix(string(content), "\ufeff"), err
}
