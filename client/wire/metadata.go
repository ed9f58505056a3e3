package wire

// Metadata answers /metadata: what the service can be asked.
type Metadata struct {
	Service    string
	Version    string
	URL        string // of the service, as the asker reached it
	Operations []Operation

	WebhooksHostURL string `json:",omitempty"` // by which the company reaches the service
}

// Operation is one thing that the service does. The members from Parameters on
// are there only where one operation is asked for.
type Operation struct {
	Name       string
	Group      string
	Summary    string
	Role       string `json:",omitempty"` // the least that it takes; none for everybody
	Routes     []OperationRoute
	Parameters []OperationParameter `json:",omitempty"`
	Answer     string               `json:",omitempty"` // name of the reply's type
	Fields     []OperationField     `json:",omitempty"` // of the reply, or of its rows
	Samples    []OperationSample    `json:",omitempty"`
}

// OperationRoute is a way to an operation.
type OperationRoute struct {
	Methods []string
	Path    string
	Summary string `json:",omitempty"`
}

// OperationParameter is a member that a request may have.
type OperationParameter struct {
	Name     string
	Type     string
	Family   string   `json:",omitempty"` // of filters, as the published interface has it
	Suffixes []string `json:",omitempty"` // that the name may carry
	Required bool     `json:",omitempty"`
	Summary  string   `json:",omitempty"`
}

// OperationField is a member of a reply.
type OperationField struct {
	Name string
	Type string
}

// OperationSample is a command that asks for a reply in a format.
type OperationSample struct {
	Format  string
	Command string
}
