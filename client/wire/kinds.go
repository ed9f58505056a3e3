package wire

// RecordKind is a record kind that can be queried.
type RecordKind struct {
	Name      string
	Operation string // that queries its records
	Area      string
	Summary   string
	Key       []string         `json:",omitempty"` // the fields that identify a row, if they are declared
	Role      string           `json:",omitempty"` // the least role that may read the records; empty for reader
	Fields    []OperationField // in the order of columns
}
