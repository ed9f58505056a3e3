package wire

// Metadata is the reply to /metadata: the operations of the service.
type Metadata struct {
	Service    string
	Version    string
	URL        string // address of the service, as the client addressed it
	Operations []Operation

	WebhooksHostURL string `json:",omitempty"` // address at which users in the company reach the service
}

// Operation is an operation of the service. The members from Parameters on are only set
// in the reply for a single operation.
type Operation struct {
	Name        string
	Aliases     []string `json:",omitempty"` // other names
	Group       string
	Summary     string
	Role        string `json:",omitempty"` // minimum role; empty if none is required
	Routes      []OperationRoute
	Parameters  []OperationParameter  `json:",omitempty"`
	Conventions []OperationConvention `json:",omitempty"` // additional names of filters
	Answer      string                `json:",omitempty"` // name of the reply's type
	Fields      []OperationField      `json:",omitempty"` // fields of the reply, or of its rows
	Samples     []OperationSample     `json:",omitempty"`
}

// OperationRoute is a route of an operation.
type OperationRoute struct {
	Methods []string
	Path    string
	Summary string `json:",omitempty"`
}

// OperationParameter is a member of a request.
type OperationParameter struct {
	Name     string
	Type     string
	Family   string   `json:",omitempty"` // family of filters, in the notation of the published interface
	Suffixes []string `json:",omitempty"` // allowed suffixes of the name
	Required bool     `json:",omitempty"`
	Summary  string   `json:",omitempty"`
}

// OperationConvention is a set of names that mean the same as a suffix. In each of them
// % stands for a field, which can be on either side: %From% is FromField and FieldFrom.
type OperationConvention struct {
	Suffix string
	Names  []string
}

// OperationField is a member of a reply.
type OperationField struct {
	Name       string
	Type       string
	Deprecated string `json:",omitempty"` // the member to use instead
}

// OperationSample is a sample command for a reply format.
type OperationSample struct {
	Format  string
	Command string
}
