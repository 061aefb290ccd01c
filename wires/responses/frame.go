package responses

import (
	"strconv"

	"github.com/agenthost/agenthost/actors/event"
)

// frames appends the frames of one event, one after the other. seq numbers the
// next one.
type frames struct {
	buf []byte
	seq int64
}

// open starts a frame with what all have.
func (f *frames) open(name string) {
	f.buf = append(append(f.buf, "event: "...), name...)
	f.buf = append(append(append(f.buf, "\ndata: {\"type\":\""...), name...), `","sequence_number":`...)
	f.buf = strconv.AppendInt(f.buf, f.seq, 10)
	f.seq++
}

func (f *frames) close() { f.buf = append(f.buf, "}\n\n"...) }

func (f *frames) raw(name string, value []byte) {
	f.buf = append(append(append(f.buf, `,"`...), name...), `":`...)
	f.buf = append(f.buf, value...)
}

func (f *frames) text(name, value string) {
	f.buf = append(append(append(f.buf, `,"`...), name...), `":`...)
	f.buf = appendString(f.buf, value)
}

// place says which item, and which of its parts (content_index or summary_index),
// the frame belongs to.
func (f *frames) place(ev *event.Event, part string) {
	f.buf = append(f.buf, `,"item_id":"`+event.PrefixItem...)
	f.buf = append(ev.Item.AppendHex(f.buf), `","output_index":`...)
	f.buf = strconv.AppendInt(f.buf, int64(ev.Index-ev.Base), 10)
	if part != "" {
		f.buf = append(append(append(f.buf, `,"`...), part...), `":0`...)
	}
}

// object is a whole frame around a response object.
func (f *frames) object(name string, response []byte) {
	f.open(name)
	f.raw("response", response)
	f.close()
}

// item is a whole frame around an output item.
func (f *frames) item(name string, ev *event.Event, item []byte) {
	f.open(name)
	f.buf = append(f.buf, `,"output_index":`...)
	f.buf = strconv.AppendInt(f.buf, int64(ev.Index-ev.Base), 10)
	f.raw("item", item)
	f.close()
}

// bare is a whole frame that only names an item.
func (f *frames) bare(name string, ev *event.Event) {
	f.open(name)
	f.place(ev, "")
	f.close()
}
