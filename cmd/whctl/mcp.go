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

	mu   sync.Mutex
	last readableKinds
}

// readableKinds are the kinds that tools may read, as of one answer of the service.
type readableKinds struct {
	tag      string // entity tag of the answer
	registry *record.Registry
}

// Kinds leaves out kinds that require another role than reader, even if the user has it.
//
// The lock is not held during the request: tools that are called at the same time would wait for each
// other, and could not be cancelled while they wait. Each call sends its own request, since a shared one
// would end with the context of the call that sent it. That costs little: the service returns the kinds
// only if they have changed.
func (t *toolSource) Kinds(ctx context.Context) (*record.Registry, error) {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()

	list, err := t.service.KindList(ctx, last.tag)
	if err != nil {
		return nil, toolError(err)
	}
	if list == nil { // they have not changed
		return last.registry, nil
	}
	registry, err := list.Registry()
	if err != nil {
		return nil, toolError(err)
	}
	last = readableKinds{tag: list.ETag, registry: registry.Filter(isForReaders)}

	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = last
	return last.registry, nil
}

// isForReaders reports whether the role reader may read the kind. It is the rule of package account,
// which a client cannot import; the service writes roles in lower case.
func isForReaders(k *record.Kind) bool { return k.Role == "" || k.Role == "reader" }

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
