package actors

import "time"

// gauge watches the machine's memory. It ends with the Host.
func (h *Host) gauge() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-h.gaugeEnd:
			return
		case <-t.C:
		}
		h.evictLater(time.Now())
		h.root.Send(h.supervisor, &today{})
		if tight, changed := h.measure(); changed {
			h.root.Send(h.supervisor, &room{!tight})
		}
	}
}

// measure notes whether the machine is short of memory.
func (h *Host) measure() (tight, changed bool) {
	free, ok := availableMemory()
	tight = ok && free < h.cfg.limits.MinAvailableMemory
	return tight, h.stats.tight.Swap(tight) != tight
}
