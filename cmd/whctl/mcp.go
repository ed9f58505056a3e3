package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/assistant"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

func mcpCommands() []*cli.Command {
	return []*cli.Command{{
		Name:   "mcp",
		Usage:  "serve tools for assistants to read records, on standard input and output",
		Action: command.With(serveTools),
		Description: `whctl mcp
whctl mcp --profile prod`,
	}}
}

// serveTools runs whctl mcp. It ends when the assistant closes standard input.
func serveTools(c *cli.Context, s *command.Session) error {
	if c.Bool(profile.DryRunFlag) {
		return cmdline.Usagef("mcp cannot be combined with --%s", profile.DryRunFlag)
	}
	service, err := s.Client(c, true)
	if err != nil {
		return err
	}
	defer service.Close()
	log := slog.New(slog.NewTextHandler(s.Stderr, nil))
	tools := assistant.Service{Version: cmdline.Version(), Log: log}
	err = tools.Serve(c.Context, &toolSource{service: service}, io.NopCloser(s.Stdin), unclosed{s.Stdout})
	if c.Context.Err() != nil {
		return command.Interruption{}
	}
	return err
}

// unclosed is a Writer that the protocol does not close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// toolSource is the source of the tools for the user of a client.
type toolSource struct {
	service *client.Client

	mu    sync.Mutex
	tag   string // entity tag of the kinds
	kinds *record.Registry
}

// Kinds leaves out kinds that require another role than reader, even if the user has it.
func (t *toolSource) Kinds(ctx context.Context) (*record.Registry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, err := t.service.KindList(ctx, t.tag)
	if err != nil || list == nil { // nil: they have not changed
		return t.kinds, toolError(err)
	}
	registry, err := list.Registry()
	if err != nil {
		return nil, toolError(err)
	}
	t.tag = list.ETag
	t.kinds = registry.Filter(func(k *record.Kind) bool { return k.Role == "" || k.Role == "reader" })
	return t.kinds, nil
}

// Query returns a page of rows. The service checks the members of the query.
func (t *toolSource) Query(
	ctx context.Context, kind *record.Kind, members map[string]any,
) (*assistant.Page, error) {
	q := client.Query{Kind: kind, Unchecked: make(map[string]json.RawMessage)}
	for name, value := range members {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		q.Unchecked[name] = text
	}
	page, err := t.service.Page(ctx, q)
	if err != nil {
		return nil, toolError(err)
	}
	result := &assistant.Page{
		Results: make([]json.RawMessage, len(page.Rows)),
		Meta:    page.Meta,
		Clamped: page.Notes.TakeClamped != "",
	}
	for i, row := range page.Rows {
		result.Results[i] = row.JSON()
	}
	return result, nil
}

// Why leaves out the changes of kinds that a reader may not read, which the service returns to an
// admin.
func (t *toolSource) Why(ctx context.Context, key string) (*wire.Why, error) {
	kinds, err := t.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	why, err := t.service.Why(ctx, key)
	if err != nil {
		return nil, toolError(err)
	}
	why.Steps = slices.DeleteFunc(why.Steps, func(s wire.WhyStep) bool {
		_, isReadable := kinds.Lookup(s.Kind)
		return s.Kind != "" && !isReadable
	})
	return why, nil
}

// toolError returns an error of the client as tools report it.
func toolError(err error) error {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return &assistant.Error{Message: e.Error(), Fields: e.Fields}
	}
	return err
}
