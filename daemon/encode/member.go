package encode

import "github.com/bizhook/whd/client/record"

// member is a column of a format that names every value, with the bytes that
// are the same in every row.
type member struct {
	prefix []byte // comma, name and colon
	null   []byte // instead of prefix and value
	typ    record.Type
}

// newMembers prepares the columns. The members share one buffer, since this
// runs for every request.
func newMembers(s Shape, appendName func(dst, name []byte) []byte, null string) []member {
	var shared, name []byte
	take := func(from int) []byte { return shared[from:len(shared):len(shared)] }
	members := make([]member, len(s.Columns))
	for i, c := range s.Columns {
		start := len(shared)
		shared = append(shared, ',')
		name = append(name[:0], c.Name...)
		shared = appendName(shared, name)
		shared = append(shared, ':')
		members[i] = member{prefix: take(start), typ: c.Type}
		if s.Nulls {
			start = len(shared)
			shared = append(shared, members[i].prefix...)
			shared = append(shared, null...)
			members[i].null = take(start)
		}
	}
	return members
}
