package sse

// The chunked coding of an answer. A chunk is the size of its content in
// hexadecimal, a line break, the content, a line break; a chunk of size zero ends
// the answer.
const (
	lineBreak = "\r\n"
	lastChunk = "0\r\n\r\n"
	hello     = ": ok\n"
	ping      = ": ping\n"

	// room is reserved in front of gathered frames for the size of their chunk,
	// which is known last: any int and a line break.
	room = 16 + len(lineBreak)
)

var (
	noRoom    [room]byte
	chunkEnd  = []byte(lineBreak)
	streamEnd = []byte(lineBreak + lastChunk) // of the last chunk with content
	lastAlone = []byte(lastChunk)

	plainPing   = []byte(ping)
	chunkedPing = chunk(ping)
)

// sizeLine writes the size of a chunk right-aligned into b, which has room, and
// returns where it begins.
func sizeLine(b []byte, size int) int {
	at := room - copy(b[room-len(lineBreak):], lineBreak)
	for {
		at--
		b[at] = "0123456789abcdef"[size&15]
		if size >>= 4; size == 0 {
			return at
		}
	}
}

// chunk is a chunk of its own, for content that is always the same.
func chunk(content string) []byte {
	b := append(noRoom[:], content...)
	from := sizeLine(b, len(content))
	return append(b, lineBreak...)[from:]
}
