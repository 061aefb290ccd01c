//go:build !linux

package measure

import "time"

func cpu(int) time.Duration      { return 0 }
func ownCPU() time.Duration      { return 0 }
func childCPU(int) time.Duration { return 0 }
func rss(int) float64            { return 0 }
