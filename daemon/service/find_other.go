//go:build !linux && !windows

package service

func find([]string, func(Order)) (manager, error) { return nobody{}, nil }
