package sqlite

import "strings"

// equalities is a query for the collation of a column, which the catalogue does not have for
// views: it compares values in a compound of which the column is the first part, and which
// therefore has its collation.
const equalities = `WITH sample(v) AS (SELECT column FROM source WHERE 0 UNION ALL VALUES ('1.0'), ('É'), ('A'), ('x '))
SELECT CASE WHEN max(v = '1') THEN 'DEC' WHEN max(v = 'é') THEN 'TSQL' WHEN max(v = 'a') THEN 'NOCASE' WHEN max(v = 'x') THEN 'RTRIM' ELSE 'BINARY' END FROM sample`

// Collation returns the name of the collation with which a text is compared with a column of a
// table or view: that of a column, or BINARY for the result of an expression.
func (c *Conn) Collation(table, column string) (name string, err error) {
	sql := strings.NewReplacer("column", Quote(column), "source", Quote(table)).Replace(equalities)
	err = c.Query(sql, func(s *Stmt) error {
		name = s.Text(0)
		return nil
	})
	return name, err
}
