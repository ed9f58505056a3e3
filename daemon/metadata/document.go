package metadata

import (
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

// Document is the list of operations.
func (s *Service) Document(serviceURL string) wire.Metadata {
	doc := wire.Metadata{Service: "whd", Version: s.Version, URL: serviceURL, WebhooksHostURL: s.HostURL, Operations: make([]wire.Operation, len(s.Operations))}
	for i := range s.Operations {
		doc.Operations[i] = s.Operations[i].outline()
	}
	return doc
}

// About is the document with one operation, and everything about it.
func (s *Service) About(o *Operation, serviceURL string) wire.Metadata {
	return wire.Metadata{Service: "whd", Version: s.Version, URL: serviceURL, Operations: []wire.Operation{o.document(serviceURL)}}
}

func (o *Operation) outline() wire.Operation {
	doc := wire.Operation{Name: o.Name, Group: o.Group, Summary: o.Summary, Role: o.Role}
	for _, r := range o.Routes {
		doc.Routes = append(doc.Routes, wire.OperationRoute{Methods: r.Methods, Path: r.Path, Summary: r.Summary})
	}
	return doc
}

// document is everything about the operation.
func (o *Operation) document(serviceURL string) wire.Operation {
	doc := o.outline()
	doc.Parameters = o.parameters()
	doc.Samples = sampler{o, serviceURL}.all()
	if o.Kind != nil {
		doc.Answer = o.Kind.Name
		for _, f := range o.Kind.Fields {
			doc.Fields = append(doc.Fields, wire.OperationField{Name: f.Name, Type: f.TypeName()})
		}
		return doc
	}
	if answer := o.answer(); answer != nil {
		doc.Answer = answer.words()
		if answer.item != nil {
			answer = answer.item
		}
		for _, f := range answer.fields {
			doc.Fields = append(doc.Fields, wire.OperationField{Name: f.name, Type: f.shape.words()})
		}
	}
	return doc
}

// parameters are all members that a request may have: those of the operation,
// the fields of its kind with their suffixes, those of every query.
func (o *Operation) parameters() []wire.OperationParameter {
	var all []wire.OperationParameter
	for _, m := range o.Members {
		all = append(all, wire.OperationParameter{Name: m.Name, Type: m.Type, Required: m.Required, Summary: m.Help})
	}
	if o.Kind == nil {
		return all
	}
	for _, f := range o.Kind.Fields {
		p := wire.OperationParameter{Name: f.Name, Type: f.TypeName(), Family: f.Filter.String()}
		for _, op := range f.Filter.Operators() {
			if op.Suffix() != "" {
				p.Suffixes = append(p.Suffixes, op.Suffix())
			}
		}
		all = append(all, p)
	}
	for _, p := range query.Parameters() {
		all = append(all, wire.OperationParameter{Name: p.Name, Type: commonType(p), Summary: p.Summary})
	}
	return all
}

// commonType is the type of a member of every query. Those that the published interface
// does not name are texts.
func commonType(p query.Parameter) string {
	if p.Type == "" {
		return "string"
	}
	return p.Type
}
