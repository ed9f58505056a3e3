package prove

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/row"
)

// session is a connection to a server. After an error, the next statement uses another one.
type session struct {
	conn  *mssql.Conn
	limit time.Duration // of a statement
}

func connect(ctx context.Context, pool *mssql.Server, limit time.Duration) (session, error) {
	conn, err := pool.Get(ctx)
	return session{conn, limit}, err
}

// query passes the rows of a statement to add.
func (s session) query(ctx context.Context, q mssql.Query, add func([]row.Cell)) error {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	q.Lock, q.Context = lockTimeout, []byte("whd check --prove")
	rows, err := s.conn.Query(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return err
		}
		add(cells)
	}
}

// texts returns the rows of a statement with one column, a text.
func (s session) texts(ctx context.Context, statement string, params ...mssql.Param) (all []string, err error) {
	err = s.query(ctx, mssql.Query{SQL: statement, Params: params, Types: []record.Type{record.Text}}, func(cells []row.Cell) {
		all = append(all, string(cells[0].Data))
	})
	return all, err
}

// exec runs a statement without rows.
func (s session) exec(ctx context.Context, statement string) error {
	return s.query(ctx, mssql.Query{SQL: statement}, nil)
}

func textParam(text string) mssql.Param {
	return mssql.Text(mssql.Column{Type: "nvarchar", Length: 1000}, text)
}
