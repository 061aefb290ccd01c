package drive

import "context"

// Bare plays turns of one conversation without a host; what else a wire has it has not.
func Bare(turn func(prompt string) error) Wire { return bareWire{play: turn} }

type bareWire struct {
	spawnWire
	play func(prompt string) error
}

func (w bareWire) Session(context.Context) (Session, error) { return w, nil }

func (w bareWire) Turn(_ context.Context, prompt string, s *Sight) error {
	err := w.play(prompt)
	if err == nil {
		s.Ended = "completed"
	}
	return err
}
