package changes

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/records"
)

// kindsInterval is the interval at which the fields of the kinds are read again.
const kindsInterval = time.Minute

// mirrorRecords runs whctl mirror.
func mirrorRecords(c *cli.Context, s *command.Session) (err error) {
	if c.String("to") == "" {
		return cmdline.Usagef("give the file of the copies with --to")
	}
	ctx, ends := endsOnStop(c, s)
	defer ends(&err)
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	m := &mirror{service: service, once: c.Bool("once"), now: s.Now, zone: s.Zone()}
	m.notice = func(format string, args ...any) {
		if m.screen != nil {
			m.screen("")
		}
		s.Notice(c, format, args...)
	}
	if s.Prompter.Watches && !c.Bool("quiet") {
		m.screen = func(text string) {
			fmt.Fprintf(s.Stderr, "%-*.*s\r", screenWidth, screenWidth, display.Sanitize(text))
		}
	}
	var kinds []*record.Kind
	for _, name := range c.Args().Slice() {
		kind, err := m.kind(ctx, name, kindsInterval)
		if err != nil {
			return command.Interrupted(err, 0)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if m.copies, err = openCopies(c.String("to")); err != nil {
		return err
	}
	return cmp.Or(m.run(ctx, kinds), m.copies.Close())
}

// mirror keeps the copies of kinds.
type mirror struct {
	service *client.Client
	copies  *copies
	once    bool
	now     func() time.Time
	zone    *time.Location // of printed times
	notice  func(format string, args ...any)

	mu       sync.Mutex
	registry *record.Registry
	etag     string
	read     time.Time // time at which the registry was read

	screen func(text string) // nil without a terminal
	drawn  time.Time
}

// run keeps the copies until ctx is done, or with once until they are current. If one fails,
// the others stop.
func (m *mirror) run(ctx context.Context, kinds []*record.Kind) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	for _, kind := range kinds {
		work.Go(func() {
			if err := m.keep(ctx, kind); err != nil {
				cancel(err)
			}
		})
	}
	work.Wait()
	for _, kind := range kinds {
		if st, err := m.copies.state(kind); err == nil && st != nil && st.current != "" {
			at, _ := time.Parse(time.RFC3339, st.current) // as it was written
			m.notice("%s is current as of %s, %s ago",
				kind.Name, at.In(m.zone).Format(time.DateTime), m.now().Sub(at).Round(time.Second))
		}
	}
	return command.Interrupted(context.Cause(ctx), 0)
}

// kind returns a kind with the fields that it had at most maxAge ago.
func (m *mirror) kind(ctx context.Context, name string, maxAge time.Duration) (*record.Kind, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.registry == nil || m.now().Sub(m.read) > maxAge {
		list, err := m.kindList(ctx)
		if err == nil && list != nil {
			m.etag = list.ETag
			m.registry, err = list.Registry()
		}
		if err != nil && m.registry == nil {
			return nil, err
		}
		m.read = m.now()
	}
	return records.KindNamed(m.registry, name)
}

// kindList returns the kinds of the service, or nil if they have not changed. At the start it
// waits for the service.
func (m *mirror) kindList(ctx context.Context) (*client.KindList, error) {
	if m.registry == nil {
		return m.service.AwaitKindList(ctx)
	}
	return m.service.KindList(ctx, m.etag)
}

// keep keeps the copy of a kind. It loads the records if there is no copy, if its fields are
// others, or if changes since its token are not available.
func (m *mirror) keep(ctx context.Context, kind *record.Kind) error {
	st, err := m.copies.state(kind)
	if err != nil {
		return err
	}
	if st != nil && st.fields != fieldsOf(kind) {
		err = errFields
	}
	for {
		if err != nil {
			m.notice("%s is loaded again: %s", kind.Name, err)
		}
		if err != nil || st == nil {
			if kind, st, err = m.load(ctx, kind); err != nil {
				return err
			}
		}
		if err = m.follow(ctx, kind, st); !outdated(err) {
			return err
		}
	}
}

// outdated reports whether an error means that the records have to be loaded again.
func outdated(err error) bool {
	return errors.Is(err, errFields) || client.Is(err, client.ResyncRequired)
}

// A load is lost with its connection, or if its token becomes invalid; it is repeated after a
// pause. It fails if maxFutile loads one after the other have not got further than one before.
const (
	minLoadPause = time.Second
	maxLoadPause = time.Minute
	maxFutile    = 5
)

// load loads the records until a copy is complete. It returns the kind with the fields that
// were loaded.
func (m *mirror) load(ctx context.Context, kind *record.Kind) (*record.Kind, *state, error) {
	pauses := backoff.Backoff{Min: minLoadPause, Max: maxLoadPause}
	best := 0   // number of rows of the longest load
	futile := 0 // number of loads since then
	for n := 1; ; n++ {
		kind, err := m.kind(ctx, kind.Name, 0)
		if err != nil {
			return nil, nil, err
		}
		st, rows, err := m.loadOnce(ctx, kind, n)
		futile++
		if rows > best {
			best, futile = rows, 0
		}
		mayRepeat := client.Is(err, client.Incomplete) || outdated(err)
		if !mayRepeat || futile == maxFutile {
			return kind, st, err
		}
		pause := pauses.Next()
		m.notice("%s: %s; load %d starts in %s", kind.Name, err, n+1, pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// loadOnce loads the records into a table of their own, which replaces the copy when it is
// exact. n counts the attempts.
func (m *mirror) loadOnce(ctx context.Context, kind *record.Kind, n int) (st *state, count int, err error) {
	var t *table
	var last *client.CopyPage
	for page, err := range m.service.Copy(ctx, kind) {
		if err == nil && t == nil {
			if t, err = newTable(kind, loadPrefix+kind.Name+"_"+rand.Text(), page.Key, page.Omitted); err == nil {
				err = m.copies.create(kind, t)
			}
		}
		if err == nil {
			err = m.copies.insert(t, page.Rows)
		}
		if err != nil {
			return nil, count, err
		}
		last, count = page, count+len(page.Rows)
		m.show(kind, "loading, "+display.Count(int64(count), "row", "rows")+again(n))
	}
	st = &state{token: last.Since, fields: fieldsOf(kind), key: last.Key, omitted: last.Omitted}
	exact, err := targetOf(last.Exact)
	if err == nil {
		err = m.complete(ctx, kind, t, st, exact)
	}
	if err == nil {
		err = m.copies.replace(kind, t, st, m.now())
	}
	if err != nil {
		return nil, count, err
	}
	m.notice("%s loaded: %s%s", kind.Name, display.Count(int64(count), "row", "rows"), without(last.Omitted))
	return st, count, nil
}

// again counts the attempts to load after the first one.
func again(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (load %d)", n)
}

// complete applies changes to a loaded table until it is exact.
func (m *mirror) complete(ctx context.Context, kind *record.Kind, t *table, st *state, exact target) error {
	for page, err := range m.service.FollowChanges(ctx, kind, st.token) {
		if err == nil {
			err = m.sameFields(ctx, kind, st, page)
		}
		if err == nil {
			err = m.copies.advanceLoad(t, st, page)
		}
		reached := false
		if err == nil {
			reached, err = exact.by(st.token)
		}
		if reached || err != nil {
			return err
		}
	}
	return nil
}

// sameFields returns errFields if the changes of a page may lack fields of the copy, or have
// others. They can only where the epoch changes, since capture starts again for that.
func (m *mirror) sameFields(ctx context.Context, kind *record.Kind, st *state, page *client.ChangePage) error {
	if epochOf(page.Next) == epochOf(st.token) {
		return nil
	}
	_, err := m.checkFields(ctx, kind, st)
	return err
}

// checkFields returns errFields if the fields of the copy are not those of the service, and
// else the token of now.
func (m *mirror) checkFields(ctx context.Context, kind *record.Kind, st *state) (token string, err error) {
	named, err := m.kind(ctx, kind.Name, 0)
	if err != nil {
		return "", err
	}
	current, err := present(ctx, m.service, kind)
	if err != nil {
		return "", err
	}
	isSameKey := slices.Equal(current.Key, st.key)
	isSameSet := fieldsOf(named) == st.fields && slices.Equal(current.Omitted, st.omitted)
	if !isSameKey || !isSameSet {
		return "", errFields
	}
	return current.Next, nil
}

// without names the fields that a copy does not have.
func without(omitted []string) string {
	if len(omitted) == 0 {
		return ""
	}
	return ", without " + strings.Join(omitted, ", ") + ", which the service does not capture"
}

// follow applies changes to the copy. With once it ends when it has those of now.
func (m *mirror) follow(ctx context.Context, kind *record.Kind, st *state) error {
	t, err := newTable(kind, kind.Name, st.key, st.omitted)
	if err != nil {
		return err
	}
	now, err := m.checkFields(ctx, kind, st)
	if err != nil {
		return err
	}
	until := target(-1)
	if m.once {
		if until, err = targetOf(now); err != nil {
			return err
		}
	}
	count := 0
	for page, err := range m.service.FollowChanges(ctx, kind, st.token) {
		if err == nil {
			err = m.sameFields(ctx, kind, st, page)
		}
		if err == nil {
			err = m.copies.advance(kind, t, st, page)
		}
		if err != nil {
			return err
		}
		count += len(page.Changes)
		m.show(kind, "current, "+display.Count(int64(count), "change", "changes"))
		if reached, err := until.by(st.token); reached || err != nil {
			return err
		}
		if named, err := m.kind(ctx, kind.Name, kindsInterval); err == nil && fieldsOf(named) != st.fields {
			return errFields
		}
	}
	return nil
}

// The progress is drawn in one line, not more often than every screenInterval.
const (
	screenWidth    = 78
	screenInterval = 200 * time.Millisecond
)

// show shows the progress of a kind on a terminal.
func (m *mirror) show(kind *record.Kind, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.now(); m.screen != nil && now.Sub(m.drawn) >= screenInterval {
		m.drawn = now
		m.screen(kind.Name + ": " + text)
	}
}
