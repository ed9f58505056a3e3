package wire

// RecordKind is a record kind that can be queried.
type RecordKind struct {
	Name      string
	Operation string // name of the operation that queries its records
	Area      string
	Summary   string
	Key       []string         `json:",omitempty"` // fields that identify a row, if they are declared
	Role      string           `json:",omitempty"` // lowest role that may read the records; empty: reader
	Fields    []OperationField // in the order of columns
}
