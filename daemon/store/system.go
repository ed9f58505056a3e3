package store

import (
	"errors"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// The kinds that the service itself keeps are read like all others, but from
// databases of their own.

// systemDatabase is one of them.
type systemDatabase interface {
	executor.Database
	Close() error
}

// database is the one that the kind's records are in.
func (s *Store) database(kind *record.Kind) executor.Database {
	if kind.Database == record.InRecords {
		return s.records
	}
	return s.system[kind.Database]
}

// openSystemFiles opens our own files of the embedded store for reading. Their
// tables exist by now.
func (s *Store) openSystemFiles() error {
	own, err := openSystemFile(s.path(ownFile), s.config.Connections, s.own.drain)
	if err != nil {
		return unreachable(err)
	}
	s.log = &logFile{path: s.path(logFileName), connections: s.config.Connections}
	s.system = map[record.Database]systemDatabase{record.InOwn: own, record.InLog: s.log}
	return nil
}

// openSystemFile opens one of our own files for reading.
func openSystemFile(path string, connections int, drain *executor.Drain) (*executor.File, error) {
	o := sqlite.Options{ReadOnly: true, BusyTimeout: 5 * time.Second, Pragmas: []string{"cache_size = -2000"}}
	pool, err := sqlite.NewPool(path, o, connections)
	if err != nil {
		return nil, err
	}
	tables := make(map[string]string)
	for _, kind := range record.System().Kinds() {
		tables[kind.Name] = kind.Source()
	}
	return executor.NewFile(pool, tables, drain), nil
}

// systemConnections is how many may read our own tables on a server at once.
// They are apart from those of logins, as the readers of records are.
const systemConnections = 8

// openSystemSchema opens our own schema on a server for reading. It does not
// connect.
func (s *Store) openSystemSchema() error {
	server, err := mssql.Open(mssql.Config{DSN: s.config.DSN, Connections: systemConnections})
	if err != nil {
		return err
	}
	own := executor.NewServer(server, s.config.LockTimeout, s.config.Limits)
	for _, kind := range record.System().Kinds() {
		own.Add(kind, mssql.Table{Schema: s.config.Schema, Name: kind.Source()})
	}
	s.system = map[record.Database]systemDatabase{record.InOwn: own, record.InLog: own}
	return nil
}

func (s *Store) closeSystem() (err error) {
	for _, one := range s.system {
		err = errors.Join(err, one.Close()) // those that are one and the same do not mind
	}
	return err
}
