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
func mirrorRecords(ctx context.Context, c *cli.Context, s *command.Session) error {
	if c.String("to") == "" {
		return cmdline.Usagef("give the file of the copies with --to")
	}
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	m := &mirror{service: service, once: c.Bool("once"), now: s.Now, zone: s.Zone()}
	m.setOutput(c, s)
	kinds, err := m.kinds(ctx, c.Args().Slice())
	if err != nil {
		return command.Interrupted(err, 0)
	}
	m.copies, err = openCopies(c.String("to"))
	if err != nil {
		return err
	}
	return cmp.Or(m.run(ctx, kinds), m.copies.Close())
}

// mirror keeps the copies of kinds.
type mirror struct {
	service *client.Client
	copies  *copies
	once    bool // ends when the copies are current
	now     func() time.Time
	zone    *time.Location // time zone of printed times
	notice  func(format string, args ...any)

	mu       sync.Mutex // guards the fields below
	registry *record.Registry
	etag     string    // entity tag of the registry
	read     time.Time // time at which the registry was read

	screen func(text string) // rewrites a line; nil without a terminal
	drawn  time.Time         // time at which the line was rewritten
}

// setOutput sets the functions that print notices and the progress. A notice clears the line of the
// progress before.
func (m *mirror) setOutput(c *cli.Context, s *command.Session) {
	m.notice = func(format string, args ...any) { s.Notice(c, format, args...) }
	if !s.Prompter.Watches || c.Bool("quiet") {
		return
	}
	m.screen = func(text string) {
		fmt.Fprintf(s.Stderr, "%-*.*s\r", screenWidth, screenWidth, display.Sanitize(text))
	}
	m.notice = func(format string, args ...any) {
		m.screen("")
		s.Notice(c, format, args...)
	}
}

// kinds returns the kinds with some names, each once.
func (m *mirror) kinds(ctx context.Context, names []string) ([]*record.Kind, error) {
	var kinds []*record.Kind
	for _, name := range names {
		kind, err := m.kind(ctx, name, kindsInterval)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
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
		m.noticeCurrent(kind)
	}
	return command.Interrupted(context.Cause(ctx), 0)
}

// noticeCurrent prints the time until which a copy has all changes, if it is known.
func (m *mirror) noticeCurrent(kind *record.Kind) {
	st, err := m.copies.state(kind)
	if err != nil || st == nil || st.current == "" {
		return
	}
	current, _ := time.Parse(time.RFC3339, st.current) // as it was written
	m.notice("%s is current as of %s, %s ago",
		kind.Name, current.In(m.zone).Format(time.DateTime), m.now().Sub(current).Round(time.Second))
}

// kind returns a kind with the fields that it had at most maxAge ago. If they cannot be read, those
// of an earlier time are used.
func (m *mirror) kind(ctx context.Context, name string, maxAge time.Duration) (*record.Kind, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.registry == nil || m.now().Sub(m.read) > maxAge {
		if err := m.readKinds(ctx); err != nil && m.registry == nil {
			return nil, err
		}
		m.read = m.now()
	}
	return records.KindNamed(m.registry, name)
}

// readKinds reads the registry, if it has changed.
func (m *mirror) readKinds(ctx context.Context) error {
	list, err := m.kindList(ctx)
	if err != nil || list == nil {
		return err
	}
	m.etag = list.ETag
	m.registry, err = list.Registry()
	return err
}

// kindList returns the kinds of the service, or nil if they have not changed. At the start it
// waits for the service.
func (m *mirror) kindList(ctx context.Context) (*client.KindList, error) {
	if m.registry == nil {
		return m.service.AwaitKindList(ctx)
	}
	return m.service.KindList(ctx, m.etag)
}

// keep keeps the copy of a kind. It loads the records if there is no copy, if its fields have
// changed, or if changes since its token are not available.
func (m *mirror) keep(ctx context.Context, kind *record.Kind) error {
	st, err := m.copies.state(kind)
	if err != nil {
		return err
	}
	var reason error // to load the records again; nil for none
	if st != nil && st.fields != fieldsOf(kind) {
		reason = errFields
	}
	for {
		if reason != nil {
			m.notice("%s is loaded again: %s", kind.Name, reason)
		}
		if reason != nil || st == nil {
			kind, st, err = m.load(ctx, kind)
			if err != nil {
				return err
			}
		}
		reason = m.follow(ctx, kind, st)
		if !outdated(reason) {
			return reason
		}
	}
}

// outdated reports whether an error means that the records have to be loaded again.
func outdated(err error) bool {
	return errors.Is(err, errFields) || client.Is(err, client.ResyncRequired)
}

// A load is lost with its connection, or if its token becomes invalid; it is repeated after a
// pause. It fails after maxFutile loads in a row that have not got further than an earlier one.
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
	for attempt := 1; ; attempt++ {
		kind, err := m.kind(ctx, kind.Name, 0)
		if err != nil {
			return nil, nil, err
		}
		st, rows, err := m.loadOnce(ctx, kind, attempt)
		futile++
		if rows > best {
			best = rows
			futile = 0
		}
		mayRepeat := client.Is(err, client.Incomplete) || outdated(err)
		if !mayRepeat || futile == maxFutile {
			return kind, st, err
		}
		pause := pauses.Next()
		m.notice("%s: %s; load %d starts in %s", kind.Name, err, attempt+1, pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// loadOnce loads the records into a table of their own, which replaces the copy when it is
// exact. It returns the number of rows even if it fails.
func (m *mirror) loadOnce(
	ctx context.Context, kind *record.Kind, attempt int,
) (st *state, rows int, err error) {
	t, last, rows, err := m.loadRows(ctx, kind, attempt)
	if err != nil {
		return nil, rows, err
	}
	st = &state{token: last.Since, fields: fieldsOf(kind), key: last.Key, omitted: last.Omitted}
	exact, err := positionOf(last.Exact)
	if err != nil {
		return nil, rows, err
	}
	if err := m.complete(ctx, kind, t, st, exact); err != nil {
		return nil, rows, err
	}
	if err := m.copies.replace(kind, t, st, m.now()); err != nil {
		return nil, rows, err
	}
	m.notice("%s loaded: %s%s",
		kind.Name, display.Count(int64(rows), "row", "rows"), without(last.Omitted))
	return st, rows, nil
}

// loadRows copies the rows of the service to a new table. It returns the last page, and the number
// of rows even if it fails.
func (m *mirror) loadRows(
	ctx context.Context, kind *record.Kind, attempt int,
) (t *table, last *client.CopyPage, rows int, err error) {
	for page, err := range m.service.Copy(ctx, kind) {
		if err != nil {
			return nil, nil, rows, err
		}
		if t == nil {
			t, err = m.createLoad(kind, page)
			if err != nil {
				return nil, nil, rows, err
			}
		}
		if err := m.copies.insert(t, page.Rows); err != nil {
			return nil, nil, rows, err
		}
		last = page
		rows += len(page.Rows)
		progress := "loading, " + display.Count(int64(rows), "row", "rows")
		if attempt > 1 {
			progress += fmt.Sprintf(" (load %d)", attempt)
		}
		m.show(kind, progress)
	}
	return t, last, rows, nil
}

// createLoad creates the table for a load that has the key and the fields of a page.
func (m *mirror) createLoad(kind *record.Kind, page *client.CopyPage) (*table, error) {
	name := loadPrefix + kind.Name + "_" + rand.Text()
	t, err := newTable(kind, name, page.Key, page.Omitted)
	if err != nil {
		return nil, err
	}
	return t, m.copies.create(kind, t)
}

// complete applies changes to a loaded table until it is exact.
func (m *mirror) complete(
	ctx context.Context, kind *record.Kind, t *table, st *state, exact position,
) error {
	for page, err := range m.service.FollowChanges(ctx, kind, st.token) {
		if err != nil {
			return err
		}
		if err := m.sameFields(ctx, kind, st, page); err != nil {
			return err
		}
		if err := m.copies.advanceLoad(t, st, page); err != nil {
			return err
		}
		reached, err := exact.reachedBy(st.token)
		if reached || err != nil {
			return err
		}
	}
	return nil
}

// sameFields returns errFields if the changes of a page may lack fields of the copy, or have
// others. They can only where the epoch changes, since capture starts again for that.
func (m *mirror) sameFields(
	ctx context.Context, kind *record.Kind, st *state, page *client.ChangePage,
) error {
	if epochOf(page.Next) == epochOf(st.token) {
		return nil
	}
	_, err := m.checkFields(ctx, kind, st)
	return err
}

// checkFields returns errFields if the fields of the copy are not those of the service, or else
// the token of now.
func (m *mirror) checkFields(
	ctx context.Context, kind *record.Kind, st *state,
) (token string, err error) {
	latest, err := m.kind(ctx, kind.Name, 0)
	if err != nil {
		return "", err
	}
	current, err := currentPage(ctx, m.service, kind)
	if err != nil {
		return "", err
	}
	isSameKey := slices.Equal(current.Key, st.key)
	isSameSet := fieldsOf(latest) == st.fields && slices.Equal(current.Omitted, st.omitted)
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
	currentToken, err := m.checkFields(ctx, kind, st)
	if err != nil {
		return err
	}
	end := noPosition
	if m.once {
		end, err = positionOf(currentToken)
		if err != nil {
			return err
		}
	}
	applied := 0
	for page, err := range m.service.FollowChanges(ctx, kind, st.token) {
		if err != nil {
			return err
		}
		if err := m.sameFields(ctx, kind, st, page); err != nil {
			return err
		}
		if err := m.copies.advance(kind, t, st, page); err != nil {
			return err
		}
		applied += len(page.Changes)
		m.show(kind, "current, "+display.Count(int64(applied), "change", "changes"))
		reached, err := end.reachedBy(st.token)
		if reached || err != nil {
			return err
		}
		latest, err := m.kind(ctx, kind.Name, kindsInterval)
		if err == nil && fieldsOf(latest) != st.fields {
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
	now := m.now()
	if m.screen != nil && now.Sub(m.drawn) >= screenInterval {
		m.drawn = now
		m.screen(kind.Name + ": " + text)
	}
}
