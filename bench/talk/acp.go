package talk

import "fmt"

// client speaks the Agent Client Protocol with a CLI.
type client struct {
	*program
	session string
	// open is the method that takes up a session again, give the one that gives it up;
	// "" for none.
	open, give string
	own        string // of Fresh
	left       int    // the request that gives it up, not answered yet
}

// newClient speaks with a CLI that gives sessions up by a method, "" for the protocol's
// own.
func newClient(give string) func(*program) (Talker, error) {
	return func(p *program) (Talker, error) {
		c := &client{program: p, open: "session/load", give: give}
		o, err := c.call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
		if err != nil {
			return c, err
		}
		if o.at("result", "agentCapabilities", "sessionCapabilities", "resume") != nil {
			c.open = "session/resume"
		}
		if o.at("result", "agentCapabilities", "sessionCapabilities", "close") != nil && give == "" {
			c.give = "session/close"
		}
		c.session, err = c.begin()
		return c, err
	}
}

func (c *client) say(o object) error {
	o["jsonrpc"] = "2.0"
	return c.program.say(o)
}

func (c *client) call(method string, params object) (object, error) {
	c.last++
	if err := c.say(object{"id": c.last, "method": method, "params": params}); err != nil {
		return nil, err
	}
	o, err := c.answer(c.last)
	if err == nil && o["error"] != nil {
		err = fmt.Errorf("%s: %v", method, o["error"])
	}
	return o, err
}

func (c *client) answer(id int) (object, error) {
	return c.until(func(o object) bool {
		if o["method"] != nil {
			return false
		}
		if c.left != 0 && o["id"] == float64(c.left) { // it may come between others
			c.left = 0
		}
		return o["id"] == float64(id)
	})
}

func (c *client) begin() (string, error) {
	o, err := c.call("session/new", object{"cwd": c.work, "mcpServers": []any{}})
	id, _ := o.at("result", "sessionId").(string)
	return id, err
}

func (c *client) play(session, prompt string) error {
	o, err := c.call("session/prompt", object{"sessionId": session, "prompt": []object{{"type": "text", "text": prompt}}})
	if err == nil && o.at("result", "stopReason") != "end_turn" {
		err = fmt.Errorf("the turn ended by %v", o.at("result", "stopReason"))
	}
	return err
}

func (c *client) Turn(prompt string) error { return c.play(c.session, prompt) }

// Fresh gives the session up behind a turn and does not wait for it; the next turn does.
func (c *client) Fresh() func(string) error {
	return func(prompt string) (err error) {
		if c.left != 0 {
			if _, err := c.answer(c.left); err != nil {
				return err
			}
		}
		if c.own == "" {
			c.own, err = c.begin()
		} else {
			_, err = c.call(c.open, object{"sessionId": c.own, "cwd": c.work, "mcpServers": []any{}})
		}
		if err == nil {
			err = c.play(c.own, prompt)
		}
		if err == nil && c.give != "" {
			c.last++
			c.left = c.last
			err = c.say(object{"id": c.last, "method": c.give, "params": object{"sessionId": c.own}})
		}
		return err
	}
}
