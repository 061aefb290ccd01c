package measure

import "testing"

func TestPeersAreRead(t *testing.T) {
	t.Parallel()
	p, err := ParsePeer("other=responses:http://127.0.0.1:9000,model=x,pid=12")
	if err != nil || p != (Peer{"other", "responses", "http://127.0.0.1:9000", "x", 12}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"", "x", "x=y", "plain=agents:http://h", "x=telnet:h", "x=agents:http://h,pid=0", "x=agents:http://h,more=1"} {
		if p, err := ParsePeer(bad); err == nil {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}
