package demo

// names are the names of staff, drivers and customers.
var names = []string{
	"Alice Nguyen", "Bronwyn O'Shea", "Jürgen Weiß", "Müller, Käthe", "Siân Lloyd-Price",
	"Κωνσταντίνος Παπαδόπουλος", "Ελένη Γεωργίου", "山田 太郎", "佐藤 花子", "محمد الحسن",
	"ليلى حداد", "Łukasz Żółć", "Zoe\u0308 Martin", "José Ñandú", "Wei-Lin 陳",
	"Dave \"Sparky\" Hull", "Priya Raghunathan", "Anahera Te Whare", "Søren Ørsted", "Björk Þórsdóttir",
}

// companies are the names of suppliers and customers.
var companies = []string{
	"Wattle & Thread Pty Ltd", "Harbour Hardware Co.", "Großhandel Süd GmbH & Co. KG", "Ελληνικά Υφάσματα Α.Ε.",
	"山田金物株式会社", "شركة النور للتجارة", "O'Brien's Outfitters", "Nordlys Køkken ApS",
	"Tessuti d'Élite S.r.l.", "100% Wool Merchants", "Brown, Black & Sons", "The \"Best\" Bolt Shop",
	"Kettle_and_Pan Ltd", "Žižkov Textil s.r.o.", "Blue Heeler Workwear 🐕", "Compagnie de l'Ouest",
}

var towns = []string{
	"Ballarat", "Geelong", "Wagga Wagga", "Nuriootpa", "Köln", "Θεσσαλονίκη", "大阪", "دبي", "Christchurch", "Łódź",
}

// classes are the classes of debtors.
var classes = []string{
	"A - Key account", "B - Regular", "C - Occasional", "Cash sale", "Export 100%", "Großhandel",
	"Government", "Λιανική", "Online_store", "Schools & clubs", "Staff", "Trade [hold]", "小売店", "=Unclassified",
}

// creditorGroups and regions are combined to creditor classifications.
var (
	creditorGroups = []string{"Fabric mills", "Fastenings", "Kitchenware", "Carriers", "Services", "Packaging"}
	regions        = []string{"Australia", "New Zealand", "Deutschland", "Ελλάδα", "日本", "Other"}
)

// colours lists the colours of styles; a style uses consecutive colours.
var colours = []struct{ code, name string }{
	{"BLK", "Black"}, {"WHT", "White"}, {"NVY", "Navy"}, {"CHR", "Charcoal"}, {"RED", "Red"}, {"BTL", "Bottle green"},
	{"SND", "Sand"}, {"SKY", "Sky"}, {"GRÜ", "Grün"}, {"BMA", "Bleu marine"}, {"藍", "藍色"}, {"MUS", "Mustard"},
	{"HVY", "Hi-vis yellow"}, {"HVO", "Hi-vis orange"}, {"DEN", "Denim"}, {"BRS", "Brushed steel"}, {"COP", "Copper"},
	{"NAT", "Natural"}, {"50G", "50% grey"}, {"ΚΥΑ", "Κυανό"},
}

var stockTakeNotes = []string{
	"Cycle count by {name}.",
	"Kits of aisle {few} only; the rest was counted on Friday.",
	"Counted twice.\nDifference of {few} explained: kits broken up for order {no}.",
	"Requested by {company}",
	"End of financial year.\r\n\r\n1. Kits first\r\n2. Components after\r\n3. Sign-off: {name}",
	"{name} & {name} – mezzanine",
	"\"Short\" kits put aside, see D{no}, {town}",
}

var remarks = []string{
	"Install shelving at {company}, {town}",
	"Measure & quote",
	"Return visit, {few} items missing",
	"As agreed with {name}",
	"Night work (+50%)",
	"Travel {town} and back",
	"Umbau laut Zeichnung {no}, Maße prüfen",
	"{name}: \"call first\"",
	"Fit-out stage {few},\nincludes rubbish removal",
}

var inputNotes = []string{
	"Cut to length, allow {few} mm",
	"Use up old stock first",
	"Substitute with {no} if short",
	"Thread colour as fabric",
	"Ask {name} before changing",
	"Torque 12 N·m; see drawing {no}, sheet {few}",
	"Two per corner,\none per side",
	"¼\" drive, 5% spare",
}

var labourNotes = []string{
	"Replaced belt and tested.",
	"Waiting for part {no} from {company}",
	"Customer: {name}. Gate code on file.",
	"Left at {few}:30, job not finished.\nBack on Monday.",
	"Nähfuß justiert, Öl nachgefüllt",
	"修理完了。担当：{name}",
	"تم الإصلاح",
	"Noise gone 👍",
}

// filterConditions are saved filters with their display names.
var filterConditions = []struct{ name, condition string }{
	{"Key accounts", "[Class] = 'A - Key account'"},
	{"Class {class}", "[Class] = '{class}' AND [Balance] > {no}.00"},
	{"Supplier {company}", "[Name] LIKE '%{town}%' OR [Name] LIKE '%GmbH%'"},
	{"Overdue {few} days", "[DueDate] < DATEADD(day, -{few}, GETDATE())"},
	{"Discontinued_{few}", "[Code] LIKE '\\_X[0-9]%' AND [Status] <> 0"},
	{"Owner {name}", "[Owner] = N'{name}'"},
	{"Not on the web shop", "ISNULL([WebName], '') = ''"},
	{"Over {no}", "[InvoiceTotal] >= {no}\r\nAND [InvoiceTotal] IS NOT NULL"},
}

var filterDescriptions = []string{
	"Shared by {name}", "For the Monday report", "Replaces filter {no}", "{town} only", "Top {few}% by value",
}
