package grid

// The two sets of glyphs that the screens use, in and without colours.
var (
	ascii = Glyphs{Cut: "~", Newline: "$", Tab: "|", Fence: "|", Line: "-", Cross: "+", Pointer: ">", Mark: "*",
		Up: "^", Down: "v", Less: "<", More: ">", Loading: ".", Nothing: "-", Replacement: "?"}
	full = Glyphs{Cut: "…", Newline: "¶", Tab: "»", Fence: "│", Line: "─", Cross: "┼", Pointer: "▸", Mark: "●",
		Up: "▲", Down: "▼", Less: "‹", More: "›", Loading: "·", Nothing: "-", Replacement: "�"}

	plainLook  = &Look{Glyphs: ascii}
	colourLook = &Look{Glyphs: full, Title: "1", Rule: "90", Selected: "1", Cursor: "7", Marked: "36", Null: "90", Wait: "2"}
)
