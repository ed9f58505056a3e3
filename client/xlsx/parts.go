package xlsx

import "strings"

const (
	declaration = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainSpace   = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relSpace    = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packSpace   = "http://schemas.openxmlformats.org/package/2006/"
	mediaPrefix = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	packMedia   = "application/vnd.openxmlformats-package.relationships+xml"
)

// Cell styles: indexes in cellXfs.
const (
	stylePlain = iota
	styleHeader
	styleDate
	styleMilliseconds
)

var styleAttributes = [...]string{styleHeader: ` s="1"`, styleDate: ` s="2"`, styleMilliseconds: ` s="3"`}

// styles has the cell styles: plain, bold, and dates without and with milliseconds.
const styles = `<styleSheet xmlns="` + mainSpace + `">` +
	`<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss.000"/></numFmts>` +
	`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
	`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
	`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
	`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
	`<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
	`<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>` +
	`<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>` +
	`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

// parts returns the files of the archive except the sheet.
func parts(sheet string) []struct{ name, text string } {
	return []struct{ name, text string }{
		{"[Content_Types].xml", `<Types xmlns="` + packSpace + `content-types">` +
			`<Default Extension="rels" ContentType="` + packMedia +
			`"/><Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="` + mediaPrefix + `sheet.main+xml"/>` +
			`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + mediaPrefix + `worksheet+xml"/>` +
			`<Override PartName="/xl/styles.xml" ContentType="` + mediaPrefix + `styles+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="` + packSpace + `relationships">` +
			`<Relationship Id="rId1" Type="` + relSpace +
			`/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="` + mainSpace + `" xmlns:r="` + relSpace + `"><sheets><sheet name="` +
			strings.ReplaceAll(string(escape(nil, []byte(sheet))), `"`, "&quot;") + `" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="` + packSpace + `relationships">` +
			`<Relationship Id="rId1" Type="` + relSpace + `/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="` + relSpace + `/styles" Target="styles.xml"/></Relationships>`},
		{"xl/styles.xml", styles},
	}
}
