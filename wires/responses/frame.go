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

func (f *frames) name(name string) {
	f.buf = append(append(append(f.buf, `,"`...), name...), `":`...)
}

// text returns where in buf the value is.
func (f *frames) text(name, value string) (from, to int) {
	f.name(name)
	from = len(f.buf)
	f.buf = appendString(f.buf, value)
	return from, len(f.buf)
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
func (f *frames) object(name string, response *Response) {
	f.open(name)
	f.name("response")
	f.buf = appendResponse(f.buf, response)
	f.close()
}

// opened starts a frame around an output item.
func (f *frames) opened(name string, ev *event.Event) {
	f.open(name)
	f.buf = append(f.buf, `,"output_index":`...)
	f.buf = strconv.AppendInt(f.buf, int64(ev.Index-ev.Base), 10)
	f.name("item")
}

// item is a whole frame around an output item.
func (f *frames) item(name string, ev *event.Event, it *event.Item) {
	f.opened(name, ev)
	f.buf = appendItem(f.buf, it, nil)
	f.close()
}

// value is item for one that is shown otherwise.
func (f *frames) value(name string, ev *event.Event, item any) {
	f.opened(name, ev)
	f.buf = appendJSON(f.buf, item)
	f.close()
}

// bare is a whole frame that only names an item.
func (f *frames) bare(name string, ev *event.Event) {
	f.open(name)
	f.place(ev, "")
	f.close()
}
