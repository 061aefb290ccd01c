package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// A file whose pages are damaged may not open, or hide rows. Salvage reads its leaf
// pages one by one, without root, header or schema, as SQLite's file format has
// them, and gives their rows; what they are is told by their columns, and whether
// they are sound by their checksums.

// scavenger reads pages of a file as they are with the sound commits of its log.
type scavenger struct {
	file, log *os.File
	count     int64 // of pages
	newer     map[int64]int64
}

func openScavenger(path string) (*scavenger, error) {
	v := &scavenger{newer: map[int64]int64{}}
	var err error
	if v.file, err = os.Open(path); err != nil {
		return nil, err
	}
	size, err := sizeOf(path)
	if err != nil {
		return nil, errors.Join(err, v.close())
	}
	v.count = size / pageSize
	if v.log, err = os.Open(path + "-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, v.close())
	}
	if v.log != nil {
		if err := v.readLog(); err != nil {
			return nil, errors.Join(err, v.close())
		}
	}
	return v, nil
}

func (v *scavenger) close() error {
	err := v.file.Close()
	if v.log != nil {
		err = errors.Join(err, v.log.Close())
	}
	return err
}

// readLog notes where the log has newer pages: those of its commits before the first
// bad frame.
func (v *scavenger) readLog() error {
	in := bufio.NewReaderSize(v.log, 1<<20)
	head := make([]byte, walHeader)
	if _, err := io.ReadFull(in, head); err != nil {
		return endOfLog(err)
	}
	magic := binary.BigEndian.Uint32(head)
	sum := walSum{big: magic&1 == 1}
	sum.add(head[:24])
	if magic&^1 != 0x377f0682 || binary.BigEndian.Uint32(head[8:]) != pageSize || !sum.is(head[24:]) {
		return nil
	}
	frame := make([]byte, frameHeader+pageSize)
	open := map[int64]int64{} // of the commit that is being read
	for at := int64(walHeader); ; at += int64(len(frame)) {
		if _, err := io.ReadFull(in, frame); err != nil {
			return endOfLog(err)
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		if [8]byte(frame[8:16]) != [8]byte(head[16:24]) || !sum.is(frame[16:]) {
			return nil
		}
		page, pages := int64(binary.BigEndian.Uint32(frame)), int64(binary.BigEndian.Uint32(frame[4:]))
		open[page] = at + frameHeader
		if pages == 0 {
			continue
		}
		for p, at := range open {
			v.newer[p] = at
			v.count = max(v.count, p)
		}
		clear(open)
	}
}

// page reads one, counted from 1, into buf.
func (v *scavenger) page(n int64, buf []byte) error {
	if at, ok := v.newer[n]; ok {
		_, err := v.log.ReadAt(buf, at)
		return err
	}
	_, err := v.file.ReadAt(buf, (n-1)*pageSize)
	if errors.Is(err, io.EOF) { // cut off
		clear(buf)
		return nil
	}
	return err
}

// Pages of the pointer map say what the pages behind them are; one that is free
// holds rows of what was deleted.
const (
	mapEntry = 5
	mapSpan  = pageSize/mapEntry + 1
	mapFree  = 2
)

// rows shows visit every row of every leaf.
func (v *scavenger) rows(visit func(row []value, rowID int64) error) error {
	buf, kinds := make([]byte, pageSize), make([]byte, pageSize)
	for n := int64(1); n <= v.count; n++ {
		if n >= 2 && (n-2)%mapSpan == 0 {
			if err := v.page(n, kinds); err != nil {
				return err
			}
			continue
		}
		if n > 2 && kinds[mapEntry*((n-2)%mapSpan-1)] == mapFree {
			continue
		}
		if err := v.page(n, buf); err != nil {
			return err
		}
		if err := v.leaf(n, buf, visit); err != nil {
			return err
		}
	}
	return nil
}

// Kinds of b-tree pages with rows in them.
const (
	indexInterior = 2
	indexLeaf     = 10
	tableLeaf     = 13
)

func (v *scavenger) leaf(n int64, page []byte, visit func(row []value, rowID int64) error) error {
	at := 0
	if n == 1 {
		at = 100
	}
	kind := page[at]
	array := at + 8
	switch kind {
	case indexInterior:
		array += 4
	case indexLeaf, tableLeaf:
	default:
		return nil
	}
	cells := int(binary.BigEndian.Uint16(page[at+3:]))
	for i := range cells {
		if array+2*i+2 > len(page) {
			return nil
		}
		cell := int(binary.BigEndian.Uint16(page[array+2*i:]))
		if cell >= len(page) {
			continue
		}
		payload, rowID, err := v.payload(kind, page[cell:])
		if err != nil {
			return err
		}
		if row, ok := readRow(payload); ok {
			if err := visit(row, rowID); err != nil {
				return err
			}
		}
	}
	return nil
}

// payload gathers a cell's bytes; nil when it is damaged. The error is of the disk.
func (v *scavenger) payload(kind byte, cell []byte) (payload []byte, rowID int64, err error) {
	if kind == indexInterior {
		if len(cell) < 4 {
			return nil, 0, nil
		}
		cell = cell[4:]
	}
	size, n := varint(cell)
	cell = cell[n:]
	if n == 0 || size > maxChunk {
		return nil, 0, nil
	}
	most := int64(pageSize - 35)
	if kind == tableLeaf {
		id, n := varint(cell)
		if n == 0 {
			return nil, 0, nil
		}
		cell, rowID = cell[n:], int64(id)
	} else {
		most = (pageSize-12)*64/255 - 23
	}
	total := int64(size)
	if total <= most {
		if total > int64(len(cell)) {
			return nil, 0, nil
		}
		return cell[:total], rowID, nil
	}
	least := int64((pageSize-12)*32/255 - 23)
	local := least + (total-least)%(pageSize-4)
	if local > most {
		local = least
	}
	if local+4 > int64(len(cell)) || total > v.count*pageSize {
		return nil, 0, nil
	}
	payload = append(make([]byte, 0, total), cell[:local]...)
	next := int64(binary.BigEndian.Uint32(cell[local:]))
	buf := make([]byte, pageSize)
	for int64(len(payload)) < total {
		if next < 2 || next > v.count {
			return nil, 0, nil
		}
		if err := v.page(next, buf); err != nil {
			return nil, 0, err
		}
		next = int64(binary.BigEndian.Uint32(buf))
		payload = append(payload, buf[4:4+min(total-int64(len(payload)), pageSize-4)]...)
	}
	return payload, rowID, nil
}

// varint is SQLite's: seven bits a byte, the highest first, a ninth byte whole.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 9 {
		c := b[n]
		n++
		if n == 9 {
			return v<<8 | uint64(c), n
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// value is a column as stored.
type value struct {
	kind byte // 'n' null, 'i' integer, 't' text, 'b' blob
	i    int64
	b    []byte
}

// readRow takes a record apart; false when it is none.
func readRow(b []byte) (row []value, ok bool) {
	size, n := varint(b)
	if n == 0 || size > uint64(len(b)) || size < uint64(n) {
		return nil, false
	}
	head, body := b[n:size], b[size:]
	for len(head) > 0 {
		kind, n := varint(head)
		if n == 0 || len(row) > 32 {
			return nil, false
		}
		head = head[n:]
		v := value{kind: 'i'}
		width := uint64(0)
		switch {
		case kind == 0:
			v.kind = 'n'
		case kind <= 4:
			width = kind
		case kind == 5:
			width = 6
		case kind == 6:
			width = 8
		case kind == 8, kind == 9:
			v.i = int64(kind - 8)
		case kind >= 12 && kind%2 == 0:
			v.kind, width = 'b', (kind-12)/2
		case kind >= 13:
			v.kind, width = 't', (kind-13)/2
		default: // a real number, or reserved: we write none
			return nil, false
		}
		if width > uint64(len(body)) {
			return nil, false
		}
		v.b, body = body[:width], body[width:]
		if v.kind == 'i' && width > 0 {
			v.i = int64(int8(v.b[0]))
			for _, c := range v.b[1:] {
				v.i = v.i<<8 | int64(c)
			}
		}
		row = append(row, v)
	}
	return row, len(row) > 0 && len(body) == 0
}

// kept are the tables that rows are put back into: how many columns a row may have
// (older rows have fewer), and of which kinds. The first column of one with a row
// number is null.
var kept = []struct {
	table string
	least int
	kinds string // i integer, t text, b blob or null
}{
	{"session", 15, "nbtiibiiiiiiibbiii"},
	{"chunk", 7, "niiiiib"},
	{"turn", 10, "nbiiiiiiib"},
	{"checkpoint", 5, "niiib"},
	{"record", 8, "ntbttiib"},
	{"idem", 5, "tttib"},
	{"spend", 4, "tiii"},
}

// tableOf is the table that a row is of, "" for none of those.
func tableOf(row []value, rowID int64) string {
next:
	for _, k := range kept {
		if len(row) < k.least || len(row) > len(k.kinds) || (k.kinds[0] == 'n') != (rowID > 0) {
			continue
		}
		for i, v := range row {
			if v.kind != k.kinds[i] && (k.kinds[i] != 'b' || v.kind != 'n') {
				continue next
			}
		}
		return k.table
	}
	return ""
}

// salvage puts the rows of the file at from, and of its log, into the empty store of
// to. It returns how many.
func salvage(from string, to *db) (rows int64, err error) {
	v, err := openScavenger(from)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if err := to.on("BEGIN IMMEDIATE").exec(); err != nil {
		return 0, classify(err)
	}
	err = v.rows(func(row []value, rowID int64) error {
		table := tableOf(row, rowID)
		if table == "" {
			return nil
		}
		rows++
		return putBack(to, table, row, rowID)
	})
	if err != nil {
		return 0, errors.Join(err, to.on("ROLLBACK").exec())
	}
	return rows, classify(to.on("COMMIT").exec())
}

// putBack inserts a row. Of two with one identity the first stays.
func putBack(to *db, table string, row []value, rowID int64) error {
	sql := "INSERT OR IGNORE INTO " + table + " VALUES ("
	for i := range row {
		if i > 0 {
			sql += ","
		}
		sql += fmt.Sprintf("?%d", i+1)
	}
	if table == "session" {
		sql += strings.Repeat(",0", len(kept[0].kinds)-len(row)) // columns that came later
	}
	sql += ")"
	c := to.on(sql)
	for i, v := range row {
		switch {
		case i == 0 && rowID > 0:
			c = c.int(rowID)
		case v.kind == 'i':
			c = c.int(v.i)
		case v.kind == 't':
			c = c.text(string(v.b))
		case v.kind == 'n':
			c = c.blob(nil)
		default:
			c = c.blob(append([]byte{}, v.b...))
		}
	}
	return classify(c.exec())
}
