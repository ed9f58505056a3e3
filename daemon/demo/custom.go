package demo

import "fmt"

// labourContents generates the contents of each custom field of a labour line:
// kilometres, serial number, signature, under warranty, photo, note.
var labourContents = []maker{
	func(r row) any {
		d := r.fieldRandom()
		return fmt.Sprintf("%d.%d", d.IntN(240), d.IntN(10))
	},
	func(r row) any { return fmt.Sprintf("SN-%04X-%05d", r.fieldRandom().IntN(1<<16), r.n) },
	optional(10, oneOf(names)),
	oneOf([]string{"True", "False", "False", ""}),
	optional(55, func(r row) any {
		return fmt.Sprintf("https://photos.example/%06d.jpg?w=800&h=600", r.n)
	}),
	optional(30, phrase(labourNotes)),
}

// binContents generates the contents of each custom field of a bin location: zone,
// maximum load, last count, label.
var binContents = []maker{
	oneOf([]string{"Ambient", "Ambient", "Dangerous goods", "Kühlraum", "Mezzanine"}),
	func(r row) any { return fmt.Sprintf("%d kg", 50*(1+r.fieldRandom().IntN(30))) },
	optional(20, func(r row) any { return workday(r).Format("02/01/2006") }),
	blank(10, func(r row) any {
		return fmt.Sprintf("%c-%02d-%03d", 'A'+rune(r.n%8), r.n%40, r.n/40)
	}),
}

// contents generates the contents of custom fields, using makers in turn.
func contents(makers []maker) maker {
	return func(r row) any { return makers[r.n%len(makers)](r) }
}

// customOwner generates the id of the record to which a custom field's value belongs.
func customOwner(l list, fields []maker) maker {
	return func(r row) any { return l.at(r.n / len(fields)) }
}

// customField generates the id of the custom field of a value.
func customField(l list) maker {
	return func(r row) any { return l.at(r.n) }
}

// definition is a custom field: its name, description, cell type and parameter of that
// type.
type definition struct {
	name, description string
	cell              int64
	parameter         any
}

// settings are the custom fields of bill of materials inputs.
var settings = []definition{
	{"CutAllowance", "Allowance for cutting, in per cent", 2, "0;25"},
	{"GrainDirection", "Direction of the grain or nap", 4, "Along;Across;Bias"},
	{"Finish", "Surface finish", 4, "Matt;Satin;Gloss;Anodised"},
	{"Supplier", "Preferred supplier", 5, "SELECT CreditorID, Name FROM CR_Main"},
	{"Hazardous", "Needs a safety data sheet", 1, nil},
	{"DrawingNo", "Number of the drawing", 0, nil},
	{"Toleranz", "Zulässige Abweichung in µm", 2, "0;500"},
	{"CheckedBy", "Who checked the quantity", 0, ""},
	{"CheckedOn", "When it was checked", 3, "yyyy-MM-dd"},
	{"Torque", "Tightening torque (N·m)", 2, "0;120"},
	{"原産国", "原産国コード", 0, nil},
	{"CareLabel", "Care symbols, such as 🧺 30°", 0, nil},
	{"Batch%", "Share of the batch that is inspected", 2, "0;100"},
	{"Substitute", "May be substituted?", 1, nil},
	{"Colour match", "Matched against IN_Colours", 5, "SELECT RecID, Description FROM IN_Colours"},
}

func setting(r row) definition { return settings[r.n%len(settings)] }
